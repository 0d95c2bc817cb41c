package stack

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"devplatform/infra/local/resources"
)

// findModules sets where the functions are built. It adds a notice for each module with an SDK that ignores
// AWS_ENDPOINT_URL.
func findModules(s *resources.Stack) error {
	checked := map[string]bool{}
	for i := range s.Functions {
		f := &s.Functions[i]
		source := filepath.Join(s.Dir, filepath.FromSlash(f.CodeURI))
		dir := moduleOf(source)
		if dir == "" {
			continue
		}
		relative, err := filepath.Rel(dir, source)
		if err != nil {
			return fmt.Errorf("%s: %w", f.LogicalID, err)
		}
		f.ModuleDir, f.PackageDir = dir, "."
		if relative != "." {
			f.PackageDir = "./" + filepath.ToSlash(relative)
		}
		if !checked[dir] {
			checked[dir] = true
			s.Notices = append(s.Notices, checkSDK(filepath.Join(dir, "go.mod"))...)
		}
	}
	return nil
}

// moduleOf returns the nearest folder in or above dir that has a go.mod, "" if there is none.
func moduleOf(dir string) string {
	for {
		info, err := os.Stat(filepath.Join(dir, "go.mod")) //nolint:gosec // as below
		if err == nil && info.Mode().IsRegular() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

const (
	sdkV1 = "github.com/aws/aws-sdk-go"
	sdkV2 = "github.com/aws/aws-sdk-go-v2/config"
	// endpointVersion is the first version of sdkV2 that reads AWS_ENDPOINT_URL.
	endpointVersion = "v1.21.0"
)

// checkSDK returns notices about the SDKs that a go.mod requires. It ignores an indirect requirement of version 1,
// which usually belongs to a package that the function does not link, and a file that is not valid: the go command
// reports it.
func checkSDK(path string) (notices []string) {
	content, err := os.ReadFile(path) //nolint:gosec // the module of a function in the user's template
	if err != nil {
		return nil
	}
	file, err := modfile.ParseLax(path, content, nil)
	if err != nil {
		return nil
	}
	for _, require := range file.Require {
		module, version := require.Mod.Path, require.Mod.Version
		isOld := module == sdkV2 && semver.Compare(version, endpointVersion) < 0
		if isOld || module == sdkV1 && !require.Indirect {
			notices = append(notices, fmt.Sprintf("%s: %s %s ignores AWS_ENDPOINT_URL, so its calls go to AWS instead of "+
				"the local platform: use %s %s or later", path, module, version, sdkV2, endpointVersion))
		}
	}
	return notices
}
