# coding: euc-jp
x = '日本語' + 変数.y
