mkdir -p pyenv/shims pyenv/versions/3.9.18/lib/python3.9/site-packages
mkdir -p pyenv/versions/3.10.2/lib/python3.10/site-packages/package
printf '#!/bin/sh\nexec pyenv exec python3 "$@"\n' > pyenv/shims/python3
chmod +x pyenv/shims/python3
echo 3.10 > .python-version
touch pyenv/versions/3.10.2/lib/python3.10/site-packages/package/__init__.py
