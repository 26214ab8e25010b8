module annotate

go 1.19
