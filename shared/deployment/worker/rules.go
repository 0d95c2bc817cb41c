package worker

import (
	"fmt"
	"maps"
	"slices"

	"devplatform/shared/deployment"
	"devplatform/shared/deployment/build"
	"devplatform/shared/site"
	"devplatform/shared/site/rule"
)

// addRules adds the rules of the project's files _redirects and _headers to a manifest with all files. It logs the
// lines that have no effect.
func (a *attempt) addRules(m *site.Manifest, output build.Output) {
	var warnings []rule.Warning
	hasFile := func(path string) bool { return m.File(path) != "" }
	m.Redirects, warnings = rule.ParseRedirects(output.Redirects.Data, hasFile)
	a.logRules(output.Redirects, len(m.Redirects), warnings)
	m.Headers, warnings = rule.ParseHeaders(output.Headers.Data)
	a.logRules(output.Headers, len(m.Headers), warnings)
	for _, path := range slices.Sorted(maps.Keys(m.Files)) {
		if _, fits := rule.HeadersOf(m.Headers, path, 0); !fits {
			a.logAt(deployment.Warning, fmt.Sprintf("%s: The headers of %s and perhaps of other paths have more than 8 KiB. "+
				"The last ones are left out.", output.Headers.Path, path), output.Headers.Path, 0)
			return
		}
	}
}

// logRules logs the result of parsing a file with rules.
func (a *attempt) logRules(file build.Rules, n int, warnings []rule.Warning) {
	if file.Path == "" {
		return
	}
	for _, w := range warnings {
		a.logAt(deployment.Warning, fmt.Sprintf("%s:%d: %s", file.Path, w.Line, w.Text), file.Path, w.Line)
	}
	a.log(deployment.Info, fmt.Sprintf("Read %d rules of %s.", n, file.Path))
}
