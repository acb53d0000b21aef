site=env/lib/python3.11/site-packages
cann=root/usr/local/Ascend/ascend-toolkit/latest
mkdir -p env/bin $site/torch-2.7.1.dist-info $site/torch_npu-2.7.1.post2.dist-info bin
mkdir -p root/dev $cann/aarch64-linux root/usr/local/Ascend/driver
printf 'home = /nowhere\nversion = 3.11.9\n' > env/pyvenv.cfg
printf '#!/bin/sh\nexit 99\n' > env/bin/python
printf 'Name: torch\nVersion: 2.7.1\n' > $site/torch-2.7.1.dist-info/METADATA
touch root/dev/davinci0 root/dev/davinci1 root/dev/davinci_manager root/dev/null
printf 'package_name=Ascend-cann-toolkit\nversion=8.2.RC1\n' \
    > $cann/aarch64-linux/ascend_toolkit_install.info
printf 'Version=25.0.rc1.1\nascendhal_version=7.35.23\n' \
    > root/usr/local/Ascend/driver/version.info
cat > bin/npu-smi <<'TABLE'
#!/bin/sh
cat <<'END'
+------------------------------------------------------------------------------------------------+
| npu-smi 25.0.rc1.1               Version: 25.0.rc1.1                                           |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 90.2        39                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3385 / 65536         |
+===========================+===============+====================================================+
END
TABLE
chmod +x env/bin/python bin/npu-smi
