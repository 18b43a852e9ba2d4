"""Functions in plain loops, as machine code.

::

    compiling    how machine code comes to run, and is kept on disk
    operations   what numbers and operations read like
    functions, signatures  functions in plain loops, which Python calls as machine code
    translation, python_expressions, function_text  how these read as LLVM text
"""
