#!/bin/sh
# vim: set fileencoding=cp1252 :
x = '€“' + y
