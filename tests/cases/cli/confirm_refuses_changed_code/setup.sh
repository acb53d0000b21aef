scan() { "$NPUFUSE" scan -q "$@" > /dev/null; }
# Each folder holds the findings of a scan before something changed.
scan code -o other_line
scan code -o held
"$NPUFUSE" confirm rms_norm:norm.py:RMSNorm.forward:aaaf8d57 -o held --statement yes > /dev/null
printf '\n# a remark\n' >> code/norm.py
cp -r code lines; scan lines -o changed_lines; sed -i 's/1e-6/1e-5/' lines/norm.py
cp -r code gone; scan gone -o gone_file; rm gone/norm.py
cp -r code more; scan more more/norm.py -o moved_root; mkdir more/new; mv more/norm.py more/new/
"$NPUFUSE" scan -q - -o piped > /dev/null < code/norm.py
