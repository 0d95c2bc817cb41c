package action_test

import (
	"fmt"
	"strings"
	"testing"

	"devplatform/shared/assistant/action"
)

// A manifest is parsed only once for all packages of an action. The number of allocations shows this.
func TestManifestIsParsedOnce(t *testing.T) { // it counts all allocations of the process
	var members strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&members, ",\n    \"old%d\": \"1.%d\"", i, i)
	}
	for path, content := range map[string]string{
		"/package.json": "{\n  \"dependencies\": {" + members.String()[1:] + "\n  }\n}\n",
	} {
		allocations := func(n int) float64 {
			packages := make([]string, n)
			for i := range packages {
				packages[i] = fmt.Sprintf("new%d@1.0.0", i)
				if i%2 == 0 {
					packages[i] = fmt.Sprintf("old%d@2.0.0", i)
				}
			}
			return testing.AllocsPerRun(3, func() {
				d := action.NewDraft(newFiles(map[string]string{path: content}))
				if err := d.Apply(t.Context(), add(path, packages...)); err != nil {
					t.Fatal(err)
				}
			})
		}
		if one, fifty := allocations(1), allocations(50); fifty > 2*one {
			t.Errorf("%s: %v allocations for 1 package and %v for 50, want at most twice as many", path, one, fifty)
		}
	}
}
