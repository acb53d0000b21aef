"$NPUFUSE" scan -q code > /dev/null
# edit NAME SED: a folder NAME whose findings.json was changed by hand.
edit() { cp -r fusion_verify "$1"; sed -i "$2" "$1/findings.json"; ! cmp -s fusion_verify/findings.json "$1/findings.json"; }
edit replacement 's/"replacement": "/&import evil; /'
edit insert 's/"text": "import os/&, evil/'
edit original 's/"original": "/& /'
edit line '0,/"start_line": 11/s//"start_line": 10/'
edit verdict 's/"verdict": "reject"/"verdict": "caution"/; s/"switch": null/"switch": {"kind": "device_only", "expr": "", "name": "", "where": null}/; s/"replacement": ""/"replacement": "    return evil()"/'
edit risk 's/rounds once; code/rounds; code/'
edit rule_version 's/"rule_version": "[0-9a-f]*"/"rule_version": "000000000000"/'
edit file_hash 's/"file_sha256": "[0-9a-f]*"/"file_sha256": "0000000000000000000000000000000000000000000000000000000000000000"/'
edit outside 's|"file": "norm.py"|"file": "../norm.py"|'
edit schema 's/"schema": 1/"schema": 2/'
cp -r fusion_verify truncated; head -c 3000 fusion_verify/findings.json > truncated/findings.json
cp -r fusion_verify damaged; echo '{"schema": 1, "confirmations": [{}]}' > damaged/confirmations.json
