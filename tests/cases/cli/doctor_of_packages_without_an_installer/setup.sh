site=env/lib/python3.12/site-packages
mkdir -p env/bin $site/torch $site/torch_npu root/dev root/proc
printf 'home = /nowhere\nversion_info = 3.12.4.final.0\n' > env/pyvenv.cfg
printf '#!/bin/sh\nexit 99\n' > env/bin/python
chmod +x env/bin/python
printf "from typing import Optional\n__version__ = '2.7.1a0+git\033[31m'\ndebug = False\n" > $site/torch/version.py
printf '__version__ = "2.7.1"\n' > $site/torch_npu/version.py
touch root/dev/davinci0 root/dev/davinci1
