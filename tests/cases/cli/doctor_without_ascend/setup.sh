site=env/lib/python3.11/site-packages
mkdir -p root env/bin $site/torch-2.7.1+cpu.dist-info
printf 'home = /nowhere\nversion = 3.11.9\n' > env/pyvenv.cfg
printf '#!/bin/sh\nexit 99\n' > env/bin/python
chmod +x env/bin/python
printf 'Metadata-Version: 2.1\nName: torch\nVersion: 2.7.1+cpu\n' \
    > $site/torch-2.7.1+cpu.dist-info/METADATA
