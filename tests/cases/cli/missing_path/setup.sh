mkdir -p empty venv/bin venv/lib/python3.11/site-packages
echo 'home = /nowhere' > venv/pyvenv.cfg
touch venv/bin/python
