x = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
y = a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a
z = not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not a
w = a.b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c).b(c)
if a:
 if a:
  if a:
   if a:
    if a:
     if a:
      if a:
       if a:
        if a:
         if a:
          if a:
           if a:
            if a:
             if a:
              if a:
               if a:
                if a:
                 if a:
                  if a:
                   if a:
                    if a:
                     if a:
                      if a:
                       if a:
                        if a:
                         if a:
                          if a:
                           if a:
                            if a:
                             if a:
                              if a:
                               if a:
                                if a:
                                 if a:
                                  if a:
                                   if a:
                                    if a:
                                     if a:
                                      if a:
                                       if a:
                                        if a:
                                         if a:
                                          if a:
                                           if a:
                                            if a:
                                             if a:
                                              if a:
                                               if a:
                                                if a:
                                                 if a:
                                                  if a:
                                                   if a:
                                                    if a:
                                                     if a:
                                                      if a:
                                                       if a:
                                                        if a:
                                                         if a:
                                                          if a:
                                                           if a:
                                                            if a:
                                                             if a:
                                                              if a:
                                                               if a:
                                                                if a:
                                                                 if a:
                                                                  if a:
                                                                   if a:
                                                                    if a:
                                                                     if a:
                                                                      if a:
                                                                       if a:
                                                                        if a:
                                                                         if a:
                                                                          if a:
                                                                           if a:
                                                                            if a:
                                                                             if a:
                                                                              if a:
                                                                               if a:
                                                                                if a:
                                                                                 if a:
                                                                                  if a:
                                                                                   if a:
                                                                                    if a:
                                                                                     if a:
                                                                                      if a:
                                                                                       if a:
                                                                                        if a:
                                                                                         if a:
                                                                                          b
if a: b
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
elif c: d
