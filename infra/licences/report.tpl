# Licences of what devplatform is made of

The modules whose code is in the functions and in the local platform, with the version and the licence of each. `make licences`
writes this page with [go-licenses](https://github.com/google/go-licenses); `make test` fails where it is no longer true, and where a
licence is of a kind that asks more than to be named (copyleft, or none at all). What only tests and tools use is not in it.

| module or package | version | licence |
|---|---|---|
{{- range . }}
| {{ .Name }} | {{ .Version }} | {{ .LicenseName }} |
{{- end }}
