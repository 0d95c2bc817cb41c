# Licences of dependencies

This page lists the modules that are linked into the functions and into the local platform, with their versions and
licences. Modules that only tests and tools use are not listed. `make licences` generates the page with
[go-licenses](https://github.com/google/go-licenses). `make test` fails if the page is out of date, or if a licence
requires more than attribution (copyleft) or is missing. The npm packages in the compilers of builds are
listed in [COMPILERS.md](COMPILERS.md).

| module or package | version | licence |
|---|---|---|
{{- range . }}
| {{ .Name }} | {{ .Version }} | {{ .LicenseName }} |
{{- end }}
