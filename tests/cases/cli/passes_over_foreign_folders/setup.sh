mkdir -p .hidden __pycache__ venv myenv site-packages node_modules x.egg-info \
    build dist fusion_verify pkg/build src ignored lib/site-packages/package
for folder in .hidden __pycache__ venv myenv site-packages node_modules \
    x.egg-info build dist fusion_verify ignored lib/site-packages/package; do
    touch $folder/x.py
done
touch myenv/pyvenv.cfg model.py pkg/build/__init__.py src/layer.py
touch src/a_gen.py src/kept_gen.py src/notes.txt src/.lock.py
printf '# made by tools\n/ignored/\n*_gen.py\n' > .gitignore
printf '!kept_gen.py\n' > src/.gitignore
