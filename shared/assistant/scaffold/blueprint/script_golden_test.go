package blueprint

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update-scripts", false, "write the golden files anew")

// goldens are Specs whose files are kept to be read: one of each kind, each in the language that it shows best.
func goldens() map[string]Spec {
	invoice := []Field{
		{[]string{"customer", "name"}, text, true}, {[]string{"email"}, email, true}, {[]string{"amount"}, number, true}, {[]string{"due", "date"}, date, false},
		{[]string{"paid"}, boolean, false}, {[]string{"notes"}, longtext, false},
	}
	return map[string]Spec{
		"component":     {Kind: Component, Name: []string{"user", "profile"}, TypeScript: true},
		"page":          {Kind: Page, Name: []string{"contact"}},
		"page-list":     {Kind: Page, Name: []string{"users"}, TypeScript: true},
		"endpoint":      {Kind: Endpoint, Name: []string{"todo"}, TypeScript: true},
		"form":          {Kind: Form, Name: []string{"invoice"}, Fields: invoice},
		"form-ts":       {Kind: Form, Name: []string{"sign", "up"}, TypeScript: true},
		"table":         {Kind: List, Name: []string{"invoices"}, Fields: invoice, Table: true, TypeScript: true},
		"list":          {Kind: List, Name: []string{"people"}},
		"utility":       {Kind: Utility, Name: []string{"cart", "item"}, TypeScript: true},
		"store":         {Kind: Utility, Utility: "store", Name: []string{"todo"}, TypeScript: true},
		"test-form":     {Kind: Test, Subject: Form, Name: []string{"contact"}},
		"test-endpoint": {Kind: Test, Subject: Endpoint, Name: []string{"todo"}},
		"test-existing": {Kind: Test, Subject: Component, Name: []string{"user", "card"}, SubjectPath: "/src/components/UserCard.jsx", Paths: []string{"/src/components/UserCard.jsx", "/vite.config.js"}},
	}
}

// The golden files are what is reviewed: -update-scripts writes them.
func TestGoldenScripts(t *testing.T) {
	t.Parallel()
	for _, f := range scripted {
		for title, s := range goldens() {
			s.Framework = f
			r, err := Make(s)
			if err != nil {
				t.Fatalf("%s %s: %v", f, title, err)
			}
			var b strings.Builder
			for _, file := range r.Files {
				b.WriteString("==== " + file.Path + "\n" + file.Content)
			}
			b.WriteString("==== packages: " + strings.Join(r.Packages, " ") + "\n==== " + r.Says + "\n")
			path := filepath.Join("testdata", string(f), title+".golden")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
		}
	}
}
