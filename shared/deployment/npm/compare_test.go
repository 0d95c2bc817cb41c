package npm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"devplatform/shared/deployment/npm"
)

// projects are the dependencies of real projects.
var projects = map[string]string{
	"react":  `"react":"^19.0.0","react-dom":"^19.0.0"`,
	"router": `"react":"^18.3.0","react-dom":"^18.3.0","react-router-dom":"^6.20.0"`,
	"query": `"react":"^19","react-dom":"^19","@tanstack/react-query":"^5","@tanstack/react-query-devtools":"^5",
		"zustand":"^5","immer":"latest"`,
	"charts": `"react":"^18","react-dom":"^18","recharts":"^2.12.0","d3":"^7"`,
	"motion": `"react":"^19","react-dom":"^19","framer-motion":"^11","lucide-react":"^0.400.0","clsx":"^2",
		"tailwind-merge":"2.x"`,
	"three": `"react":"^18.2.0","react-dom":"^18.2.0","three":"~0.160.0","@react-three/fiber":"^8",
		"@react-three/drei":"^9"`,
	"mui": `"react":"^18","react-dom":"^18","@mui/material":"^5","@mui/icons-material":"^5","@emotion/react":"^11",
		"@emotion/styled":"^11"`,
	"forms": `"react":"^19","react-dom":"^19","react-hook-form":"^7","zod":"^3.22 || ^4",
		"@hookform/resolvers":">=3.3.0","date-fns":"^3","axios":"^1","lodash":"4"`,
	"shadcn": `"react":"^18","react-dom":"^18","@radix-ui/react-dialog":"^1","@radix-ui/react-dropdown-menu":"^2",
		"@radix-ui/react-select":"^2","@radix-ui/react-tooltip":"^1","cmdk":"^1","sonner":"^1","vaul":"^0.9.0",
		"class-variance-authority":"^0.7.0"`,
	"antd": `"react":"^18","react-dom":"^18","antd":"^5","react-markdown":"^9","remark-gfm":"^4","firebase":"^10"`,
	"alias": `"react":"npm:@preact/compat@*","preact":"^10","lodash3":"npm:lodash@^3","lodash":"^4","chalk":"^4 || ^5",
		"graphql":"^16","@apollo/client":"^3"`,
	"redux": `"react":"^18","react-dom":"^18","@reduxjs/toolkit":"^2","react-redux":"^9","styled-components":"^6",
		"i18next":"^23","react-i18next":"^14","swiper":"^11","@dnd-kit/core":"^6","@dnd-kit/sortable":"^8"`,
}

// TestCompare compares the versions and locations of real projects with those of npm. It needs a registry, and npm:
//
//	NPM_COMPARE=https://registry.example.com go test -run TestCompare ./shared/deployment/npm
//
// With NPM_RECORD=1, it also records the data of TestRecorded.
func TestCompare(t *testing.T) {
	t.Parallel()
	registry := os.Getenv("NPM_COMPARE")
	if registry == "" {
		t.Skip("NPM_COMPARE is not set to the URL of a registry")
	}
	record := recorded{Versions: map[string]map[string]string{}, Documents: map[string]*registryDocument{}}
	for name, dependencies := range projects {
		t.Run(name, func(t *testing.T) {
			manifest := fmt.Sprintf(`{"name":"project","version":"1.0.0","dependencies":{%s}}`, dependencies)
			want := npmInstall(t, registry, manifest)
			began := time.Now()
			d := npm.Deps{Registry: registry, AllowPrivate: true, Logger: slog.New(slog.DiscardHandler)}
			got, err := npm.Resolve(context.Background(), d, []byte(manifest))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d packages in %v", len(got), time.Since(began))
			installed := ""
			for _, location := range slices.Sorted(maps.Keys(want)) {
				installed += location + "@" + want[location] + " "
				if version := visible(got, location); version != want[location] {
					t.Errorf("%s: got %q, want %q", location, version, want[location])
				} else if got[location] == "" {
					t.Logf("%s: npm installs another copy", location)
				}
			}
			for _, location := range slices.Sorted(maps.Keys(got)) {
				if !strings.Contains(installed, location[strings.LastIndex(location, "node_modules/"):]+"@"+got[location]+" ") {
					t.Errorf("%s: got %s, which npm does not install", location, got[location])
				}
			}
			if os.Getenv("NPM_RECORD") != "" && slices.Contains(recordedProjects, name) {
				record.add(t, registry, name, want)
			}
		})
	}
	if os.Getenv("NPM_RECORD") != "" && !t.Failed() {
		record.write(t)
	}
}

// visible returns the version that the last name of a location means in the package that contains it, as Node.js finds
// it.
func visible(versions map[string]string, location string) string {
	at := strings.LastIndex(location, "node_modules/")
	parent, name := location[:at], location[at:]
	for parent != "" && versions[parent+name] == "" {
		parent = parent[:strings.LastIndex(strings.TrimSuffix(parent, "/"), "node_modules/")]
	}
	return versions[parent+name]
}

// npmInstall returns the versions that npm selects, by location. Packages only for some operating systems are left out.
func npmInstall(t *testing.T, registry, manifest string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	install := exec.Command("npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund",
		"--registry", registry, "--cache", filepath.Join(dir, "cache"))
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Packages map[string]struct {
			Version string
			OS, CPU []string
		}
	}
	if err := json.Unmarshal(lock, &parsed); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for location, p := range parsed.Packages {
		if strings.HasPrefix(location, "node_modules/") && len(p.OS) == 0 && len(p.CPU) == 0 {
			versions[location] = p.Version
		}
	}
	return versions
}
