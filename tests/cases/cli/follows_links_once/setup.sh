mkdir -p project/real outside
touch project/real/a.py outside/b.py
cd project
ln -s .. real/up
ln -s real again
ln -s real/a.py same.py
ln -s ../outside elsewhere
ln -s nowhere.py broken.py
ln -s / disk
ln -s . self
