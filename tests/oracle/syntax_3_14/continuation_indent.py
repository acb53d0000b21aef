if a:
    b
\
    c
if a:
  \
    d
  e
\
\
f
