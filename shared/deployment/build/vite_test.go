package build

import (
	"testing"

	"devplatform/shared/deployment/failure"
)

func TestCodeForVite(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"import.meta.glob('./*.js')":                           "import.meta.glob",
		"new URL('./a.svg', import.meta.url)":                  "?url",
		"new Worker(new URL(\"./w.ts\", import.meta.url), {})": "workers",
	} {
		column := 1
		if want == "workers" {
			column = 12
		}
		wantFailure(t, withPage(files("/main.js", "\n"+code, "/a.svg", "", "/w.ts", ""), nil),
			failure.Error{Code: failure.BuildFailed, Message: want, Path: "/main.js", Line: 2, Column: column})
		mustRun(t, withPage(files("/main.js", "// "+code, "/a.svg", "", "/w.ts", ""), nil))
	}
	got := bundleOf(t, files("/main.js", "console.log(process.env.PUBLIC_URL + '/a')"), nil)
	if got != "console.log(\"/a\");\n" {
		t.Errorf("got %q", got)
	}
}
