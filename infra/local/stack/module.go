package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// findModules sets where the functions are built. It adds a notice for each module with an SDK that ignores
// AWS_ENDPOINT_URL.
func (s *Stack) findModules() error {
	users := map[string]string{} // the first function of each module
	for i := range s.Functions {
		f := &s.Functions[i]
		source := filepath.Join(s.Dir, filepath.FromSlash(f.CodeURI))
		dir, err := moduleOf(source)
		if err != nil {
			return fmt.Errorf("%s: %w", f.LogicalID, err)
		}
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
		if users[dir] != "" {
			continue
		}
		users[dir] = f.LogicalID
		notices, err := checkSDK(filepath.Join(dir, "go.mod"))
		if err != nil {
			return fmt.Errorf("%s: %w", f.LogicalID, err)
		}
		s.Notices = append(s.Notices, notices...)
	}
	return nil
}

// moduleOf returns the nearest folder in or above dir that has a go.mod, "" if there is none.
func moduleOf(dir string) (string, error) {
	for {
		info, err := os.Stat(filepath.Join(dir, "go.mod")) //nolint:gosec // as below
		switch {
		case err == nil && info.Mode().IsRegular():
			return dir, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("find go.mod: %w", err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
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

// checkSDK returns notices about the SDKs that a go.mod requires. An indirect requirement of version 1 is ignored: it
// usually belongs to a package that the function does not link.
func checkSDK(path string) (notices []string, err error) {
	content, err := os.ReadFile(path) //nolint:gosec // the module of a function of the user's template
	if err != nil {
		return nil, fmt.Errorf("read the module file: %w", err)
	}
	file, err := modfile.ParseLax(path, content, nil)
	if err != nil {
		return nil, fmt.Errorf("read the module file: %s", strings.TrimSpace(err.Error()))
	}
	for _, require := range file.Require {
		module, version := require.Mod.Path, require.Mod.Version
		switch {
		case module == sdkV1 && !require.Indirect:
			notices = append(notices, fmt.Sprintf("%s: %s ignores AWS_ENDPOINT_URL: its calls go to AWS, not to the local platform. "+
				"Use github.com/aws/aws-sdk-go-v2.", path, module))
		case module == sdkV2 && semver.Compare(version, endpointVersion) < 0:
			notices = append(notices, fmt.Sprintf("%s: %s %s ignores AWS_ENDPOINT_URL: its calls go to AWS, not to the local platform. "+
				"Update it to %s or later, together with the clients of the services.", path, module, version, endpointVersion))
		}
	}
	return notices, nil
}
