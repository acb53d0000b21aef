mkdir -p lib/site-packages/package
touch model.py
