// Package setting has the rules of those settings of a project that builds use: the root folder and the variables.
// Package project stores them, and package deployment reads them for a build. It does no I/O.
package setting

import (
	"strings"

	"devplatform/shared/project/path"
)

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
