package build

import (
	"fmt"
	"strings"
	"testing"

	"devplatform/shared/deployment/constant"
	"devplatform/shared/deployment/failure"
)

func TestEnv(t *testing.T) {
	t.Parallel()
	in := files("/main.js", "console.log(import.meta.env.VITE_A)")
	in["/.env"] = []byte("VITE_A=from .env\nSECRET=hush-7\nVITE_B='b'")
	in["/.env.production"] = []byte("VITE_A=from production")
	if got := bundleOf(t, in, nil); got != "console.log(\"from production\");\n" {
		t.Error(got)
	}
	in["/main.js"] = []byte("console.log(import.meta.env, import.meta.env.SECRET, process.env, process.env.SECRET)")
	got := bundleOf(t, in, nil)
	if !strings.Contains(got, `VITE_B:"b"`) || !strings.Contains(got, `PROD:!0`) || strings.Contains(got, "hush-7") {
		t.Error(got)
	}
	for content, want := range map[string]string{
		"VITE_X=a b # c": "a b", `VITE_X="a # b" # c`: "a # b", "VITE_X='a\nb'": "a\nb", `export VITE_X = "a\nb"`: "a\nb",
		`VITE_X=a\nb`: `a\nb`, "# VITE_X=a": "", "VITE_X=": "", "Y=1\r\nVITE_X=$Y/${Y}/${Z:-2}/${Z}/\\$Y\r\n": "1/1/2//$Y",
		"VITE_X=$VITE_X": "", "VITE_X=$A\nA=$B\nB=</script>": "</script>", "VITE_X=`it's`": "it's", "VITE_X=1\nVITE_X=2": "2",
	} {
		_, all, err := constants(job{Settings: files("/.env", content)}, "")
		if got, ok := all["import.meta.env.VITE_X"]; err != nil || ok && got != constant.Quote(want) || !ok && want != "" {
			t.Errorf("%q: %s, want %q, error %v", content, got, want, err)
		}
	}
	var references strings.Builder
	references.WriteString("A=" + strings.Repeat("$A", 20_000) + "\n")
	for i := range 900 {
		fmt.Fprintf(&references, "VITE_%d=$A\n", i)
	}
	long := strings.Repeat("a", maxEnvBytes-10)
	for content, want := range map[string]string{
		long + "1234567890\n":                 "more than 65536 bytes",
		"A=" + long[:60000] + "\nVITE_X=$A$A": "Make them shorter",
		"A=$A$A\nVITE_X=$A":                   "",
		references.String():                   "",
	} {
		_, _, err := constants(job{Settings: files("/.env", content)}, "")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	var many strings.Builder
	for i := range maxEnvNames + 1 {
		fmt.Fprintf(&many, "A%d=\n", i)
	}
	wantFailure(t, withPage(files("/main.js", "", "/.env", many.String()), nil),
		failure.Error{Code: failure.BuildFailed, Message: "1000 variables", Path: "/.env"})
}
