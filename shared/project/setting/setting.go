// Package setting has the rules for the settings of a project that builds use: the framework, the root folder and the
// variables. Package project stores them, and package deployment reads them for a build. It does no I/O.
package setting

import (
	"slices"
	"strings"

	"devplatform/shared/project/path"
)

// deployableFrameworks are the frameworks of projects that can be deployed, in lower case.
var deployableFrameworks = []string{"static", "react", "vue", "svelte"}

// IsDeployable reports whether projects with this framework can be deployed. It ignores case, and space around the
// name. A build also fails if the files of the project show that it uses another framework.
func IsDeployable(framework string) bool {
	return slices.Contains(deployableFrameworks, strings.ToLower(strings.TrimSpace(framework)))
}

// CheckRootDir returns the rule that the root folder of a project breaks, or "". The rules for the paths of files
// apply, and builds must publish the files of the folder. The folder need not exist.
func CheckRootDir(dir string) string {
	if rule := path.Check(dir); rule != "" {
		return rule
	}
	if strings.Contains(dir, "/.") || strings.Contains(dir+"/", "/node_modules/") {
		return "must not contain node_modules, or a name that begins with a dot, because such folders are never published"
	}
	return ""
}
