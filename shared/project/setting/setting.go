// Package setting has the rules of those settings of a project that builds use: the framework, the root folder and the
// variables. Package project stores them, and package deployment reads them for a build. It does no I/O.
package setting

import (
	"slices"
	"strings"

	"devplatform/shared/project/path"
)

// deployable are the frameworks of projects that can be deployed, in lower case.
var deployable = []string{"static", "react", "vue", "svelte"}

// IsDeployable reports whether projects with this framework can be deployed. It ignores case, and space around the
// name. Files of a project can show that it uses another framework, which a build then refuses.
func IsDeployable(framework string) bool {
	return slices.Contains(deployable, strings.ToLower(strings.TrimSpace(framework)))
}

// CheckRootDir returns the rule that the root folder of a project breaks, or "". It has the form of the path of a file.
// A folder from which nothing is published is no root folder. The folder need not exist.
func CheckRootDir(dir string) string {
	if rule := path.Check(dir); rule != "" {
		return rule
	}
	if strings.Contains(dir, "/.") || strings.Contains(dir+"/", "/node_modules/") {
		return "must not contain node_modules, or a name that begins with a dot, because such folders are never published"
	}
	return ""
}
