package build

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// engines are the browsers that Vite's "baseline-widely-available" supports.
var engines = map[api.EngineName]float64{
	api.EngineChrome: 107, api.EngineEdge: 107, api.EngineFirefox: 104, api.EngineSafari: 16, api.EngineIOS: 16,
}

// browser is a browser in the queries of Browserslist.
type browser struct {
	engine api.EngineName
	oldest float64 // the first version that loads modules as the bundler writes them
}

var browsers = map[string]browser{
	"chrome": {api.EngineChrome, 64}, "and_chr": {api.EngineChrome, 64}, "chromeandroid": {api.EngineChrome, 64},
	"edge": {api.EngineEdge, 79}, "firefox": {api.EngineFirefox, 67}, "ff": {api.EngineFirefox, 67},
	"and_ff": {api.EngineFirefox, 67}, "safari": {api.EngineSafari, 11.1}, "ios": {api.EngineIOS, 11.3},
	"ios_saf": {api.EngineIOS, 11.3}, "opera": {api.EngineOpera, 51},
}

var (
	// versionQuery matches the versions of a browser, such as "chrome >= 90" or "safari 15.4". The bundler does not accept
	// numbers of any length.
	versionQuery = regexp.MustCompile(`(?i)^([a-z_]+)\s*(?:>=?)?\s*(\d{1,6}(?:\.\d{1,6})?)(?:\s*-\s*[\d.]+)?$`)
	// recentQuery matches queries for recent browsers, which depend on statistics. The build uses engines instead.
	recentQuery = regexp.MustCompile(`(?i)^(defaults|last \d+ .*|>=? ?[\d.]+%.*|cover .*|baseline .*|(fully |partially )?supports .*)$`)
	// ignoredQuery matches queries that only exclude browsers, and queries for Node.js or for browsers that no site
	// supports.
	ignoredQuery = regexp.MustCompile(`(?i)^(not .*|dead|op_mini all|(maintained |current )?node.*)$`)
	querySplit   = regexp.MustCompile(`(?i),|\s+(?:or|and)\s+`)
)

// readBrowsers reads the queries of Browserslist in .browserslistrc or in package.json.
func (p *project) readBrowsers() {
	var queries []string
	f, ok := p.openSettings("/.browserslistrc")
	if ok {
		for line := range strings.Lines(string(f.text)) {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(line); line != "" && line[0] != '[' { // all sections count
				queries = append(queries, line)
			}
		}
	} else if f, ok = p.openSettings(manifestPath); ok {
		value := p.manifest.Browserslist
		if byEnvironment, ok := value.(map[string]any); ok {
			value = byEnvironment["production"]
		}
		queries = stringsIn(value)
	}
	versions := map[api.EngineName]float64{}
	for _, line := range queries {
		for _, query := range querySplit.Split(line, -1) {
			f.readQuery(strings.TrimSpace(query), line, versions)
		}
	}
	if len(versions) == 0 {
		versions = engines
	}
	for engine, version := range versions {
		p.engines = append(p.engines, api.Engine{Name: engine, Version: strconv.FormatFloat(version, 'f', -1, 64)})
	}
}

// readQuery lowers the versions of engines to those that a query means.
func (f settingsFile) readQuery(query, line string, versions map[api.EngineName]float64) {
	lower := func(engine api.EngineName, version float64) {
		if known, ok := versions[engine]; !ok || version < known {
			versions[engine] = version
		}
	}
	m := versionQuery.FindStringSubmatch(query)
	switch {
	case m != nil && browsers[strings.ToLower(m[1])].oldest > 0:
		b := browsers[strings.ToLower(m[1])]
		version, _ := strconv.ParseFloat(m[2], 64) // the pattern matches numbers only
		if version < b.oldest {
			f.warn(line, "Sites do not work in %s, because it does not load modules.", query)
		}
		lower(b.engine, max(version, b.oldest))
	case recentQuery.MatchString(query):
		for engine, version := range engines {
			lower(engine, version)
		}
	case !ignoredQuery.MatchString(query):
		f.ignore(line, "The query "+quote(query), "Write a browser and a version, such as \"chrome >= 100\".")
	}
}
