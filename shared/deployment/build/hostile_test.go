package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"devplatform/infra/testmode"
	"devplatform/shared/deployment/failure"
)

// mesh is a project whose files re-export each other. The bundler's time grows exponentially with their number.
func mesh(n int) map[string][]byte {
	all := map[string][]byte{}
	for i := range n {
		var code strings.Builder
		for j := range n {
			if i != j {
				fmt.Fprintf(&code, "export * from './m%d.js';", j)
			}
		}
		all[fmt.Sprintf("/m%d.js", i)] = []byte(code.String())
	}
	all["/main.js"] = []byte("import { x } from './m0.js'; console.log(x)")
	return all
}

// styles is a project whose style sheets import the next one twice.
func styles(n int) map[string][]byte {
	all := files("/main.js", `import "./s0.css"`)
	for i := range n {
		all[fmt.Sprintf("/s%d.css", i)] = fmt.Appendf(nil, `@import "./s%d.css" screen; @import "./s%d.css" print;`, i+1, i+1)
	}
	all[fmt.Sprintf("/s%d.css", n)] = []byte("a{color:red}")
	return all
}

// enums is a project with an enum whose members each consist of two of the previous one.
func enums(n int) map[string][]byte {
	var code strings.Builder
	code.WriteString("enum E { a0 = 'xxxxxxxx'")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&code, ", a%d = `${a%d}${a%d}`", i, i-1, i-1)
	}
	code.WriteString(" }\nconsole.log(E)")
	return files("/main.js", "import './a.ts'", "/a.ts", code.String())
}

// children returns the processes that this one has started for builds.
func children(t *testing.T) (found []string) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, _ := os.ReadFile(name)
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if len(fields) > 1 && fields[1] == fmt.Sprint(os.Getpid()) {
			found = append(found, string(data))
		}
	}
	return found
}

// The manifests of a project are copied to the disk, and must not fill it.
func TestLargeManifests(t *testing.T) {
	t.Parallel()
	all := map[string][]byte{}
	large := []byte(`{"x":"` + strings.Repeat("x", 1<<20-len(`{"x":""}`)) + `"}`)
	for i := range 65 {
		all[fmt.Sprintf("/p%d/package.json", i)] = large
	}
	if _, err := Run(t.Context(), withPage(all, nil).input()); !errors.Is(err, errManifests) {
		t.Errorf("got the error %v, want %v", err, errManifests)
	}
}

// TestHostileInput builds projects that need much time or memory. Each ends with an error, and no process is left.
func TestHostileInput(t *testing.T) {
	testmode.SkipIfShort(t)
	if testmode.HasRaceDetector {
		t.Skip("takes several gigabytes with the race detector")
	}
	repeat := strings.Repeat
	page := func(code string) map[string][]byte { return files("/main.js", code) }
	typed := func(code string) map[string][]byte { return files("/main.js", "import './a.ts'", "/a.ts", code) }
	extends := files("/main.js", "")
	for i := range 8 {
		next := repeat(fmt.Sprintf(`"./t%d.json",`, i+1), 29)
		extends[fmt.Sprintf("/t%d.json", i)] = fmt.Appendf(nil, `{"extends":[%s"./t%d.json"]}`, next, i+1)
	}
	extends["/tsconfig.json"] = []byte(`{"extends":"./t0.json"}`)
	variable := page(repeat("console.log(import.meta.env.VITE_A);", 16_000))
	variable["/.env"] = []byte("VITE_A=" + repeat("x", 60_000))
	// nightly are the inputs that fill the memory of a build in further ways, and take ten seconds each.
	nightly := []string{"enum member", "sums", "variable"}
	type ending int
	const (
		slow ending = iota // takes longer than the deadline of this test
		heavy
		nested
		fine
	)
	for name, c := range map[string]struct {
		files map[string][]byte
		want  ending
	}{
		"exports of all": {mesh(12), slow},
		"style sheets":   {styles(24), slow},
		"type arguments": {typed("f" + repeat("<a", 420_000)), slow},
		"enum":           {enums(30), heavy},
		"enum member":    {typed("enum E { a = '" + repeat("x", 200_000) + "' }\n" + repeat("f(E.a);", 8000)), heavy},
		"sums": {page("const a = " + repeat(`"`+repeat("x", 1000)+`"+`, 30_000) + `""; f(` + repeat("a,", 9000) + "a)"),
			heavy},
		"variable":           {variable, heavy},
		"nested parentheses": {page(repeat("(", 2_000_000)), nested},
		"nested JSON":        {files("/main.js", "import './a.json'", "/a.json", repeat("[", 4_000_000)), nested},
		"nested tsconfig":    {files("/main.js", "", "/tsconfig.json", repeat("[", 4_000_000)), fine},
		"extends":            {extends, fine},
	} {
		t.Run(name, func(t *testing.T) {
			if slices.Contains(nightly, name) {
				testmode.SkipIfNotNightly(t)
			}
			timeout := time.Minute
			if c.want == slow {
				timeout = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			_, err := Run(ctx, withPage(c.files, nil).input())
			t.Log(err)
			_, isFailure := errors.AsType[*failure.Error](err)
			switch {
			case c.want == slow && errors.Is(err, context.DeadlineExceeded):
			case c.want == heavy && errors.Is(err, errMemory):
			case c.want == nested && (errors.Is(err, errNesting) || errors.Is(err, errMemory)):
			case c.want == fine && (err == nil || isFailure):
			default:
				t.Errorf("got %v", err)
			}
			if runtime.GOOS == "linux" {
				if left := children(t); len(left) > 0 {
					t.Errorf("processes are left: %v", left)
				}
			}
		})
	}
}
