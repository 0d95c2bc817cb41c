package npm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Project is what an installation needs to know about a project.
type Project struct {
	Files   map[string][]byte // manifests and lock files at the root folder, such as "/package.json"
	Imports map[string]bool   // names of packages that the sources import
}

// Install installs the packages of a project below dir, as dir/node_modules. Errors: those of InstallFiles.
func (i *Installer) Install(ctx context.Context, p Project, dir string) (Report, error) {
	files, report, err := i.InstallFiles(ctx, p.Files)
	if err != nil {
		return report, err
	}
	made := map[string]bool{}
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if folder := filepath.Dir(file); !made[folder] {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return report, fmt.Errorf("npm: %w", err)
			}
			made[folder] = true
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return report, fmt.Errorf("npm: %w", err)
		}
	}
	return report, nil
}
