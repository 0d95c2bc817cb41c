package npm

import (
	"regexp"
	"slices"
	"strings"

	"deps.dev/util/semver"
)

// otherLocks are the lock files of other tools, and of npm's own older command. lines matches a line with the name and
// the version of a package, or with one of them. It is nil if the versions in the file are not used.
var otherLocks = []struct {
	name  string
	lines *regexp.Regexp
}{
	{"pnpm-lock.yaml", regexp.MustCompile(`(?m)^  ['"]?/?(?P<name>(?:@[^/@\s]+/)?[^/@\s'"]+)[@/](?P<version>\d[^:('"/_\s]*)`)},
	// The versions of Yarn are on a line of their own, below the names: version "1.2.3", or version: 1.2.3.
	{"yarn.lock", regexp.MustCompile(`(?m)^"?(?P<name>(?:@[^/@\s"]+/)?[^/@\s"#]+)@.*:\s*$|^  version:? "?(?P<version>\d[^"\s]*)`)},
	{"bun.lock", regexp.MustCompile(`(?m)^\s*"[^"]+": \["(?P<name>(?:@[^/@"]+/)?[^/@"]+)@(?P<version>\d[^"]*)"`)},
	{"npm-shrinkwrap.json", nil},
	{"bun.lockb", nil},
}

// preferences returns the versions in the lock files of a project, by package: those of an outdated package-lock.json,
// or those of the first lock file of another tool. The warnings say how the files are used. Only the names and the
// versions of other tools are read. A file that has a form that is not known has none.
func preferences(l *lock, files map[string][]byte) (versions map[string][]string, warnings []string) {
	const advice = "Run npm install, and add the package-lock.json that it writes."
	if _, ok := files[lockPath]; ok {
		return l.versions(), []string{"package-lock.json does not match package.json, or was written by npm 6 or older, " +
			"so the versions were selected again. They can differ from it. " + advice}
	}
	for _, other := range otherLocks {
		text, ok := files["/"+other.name]
		if !ok {
			continue
		}
		found := map[string][]string{}
		if versions == nil && other.lines != nil && len(text) <= maxLock {
			found = lockedVersions(other.lines, string(text))
		}
		if len(found) == 0 {
			warnings = append(warnings, other.name+" is ignored. The versions of the packages can differ from it. "+advice)
			continue
		}
		versions = found
		warnings = append(warnings, other.name+" was used to prefer its versions, but packages that need several versions "+
			"of another package can get other ones. "+advice)
	}
	return versions, warnings
}

// lockedVersions returns the versions that the lines of a lock file name, the highest first.
func lockedVersions(lines *regexp.Regexp, text string) map[string][]string {
	versions := map[string][]string{}
	name := ""
	for _, match := range lines.FindAllStringSubmatch(text, maxEdges) {
		if n := match[lines.SubexpIndex("name")]; n != "" {
			name = n
		}
		version := match[lines.SubexpIndex("version")]
		known := versions[name]
		if name != "" && validVersion.MatchString(version) && len(known) < 100 && !slices.Contains(known, version) {
			versions[name] = append(known, version)
		}
	}
	for _, list := range versions {
		slices.SortFunc(list, func(a, b string) int { return semver.NPM.Compare(b, a) })
	}
	return versions
}

const maxSkipped = 5 // that a warning names

// warnings returns warnings about the fields of package.json that are ignored.
func (p *project) warnings() (all []string) {
	if p.workspaces {
		all = append(all, "workspaces in package.json is ignored: all packages come from the npm registry, also if a "+
			"folder of the project has a package of that name.")
	}
	if len(p.skipped) > 0 {
		all = append(all, "Some rules of resolutions or pnpm.overrides in package.json are ignored: "+
			strings.Join(p.skipped[:min(len(p.skipped), maxSkipped)], ", ")+". Only rules for a package in the whole "+
			"project are applied. Use overrides, as npm describes them.")
	}
	return all
}
