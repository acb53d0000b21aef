site=env/lib/python3.9/site-packages
mkdir -p $site/package/sub env/bin more/outer develop/linked
echo 'home = /nowhere' > env/pyvenv.cfg
touch $site/package/__init__.py $site/package/sub/module.py
touch more/outer/a.py develop/linked/__init__.py
printf '# editable\nimport something\n../../../../develop\n' > $site/dev.pth
