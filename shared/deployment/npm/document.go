package npm

import (
	"slices"
	"strings"

	"deps.dev/util/semver"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// document is the registry's document of a package, in the abbreviated form. The versions are decoded when they are
// needed, because a popular package has thousands.
type document struct {
	Tags     map[string]string         `json:"dist-tags"`
	Versions map[string]jsontext.Value `json:"versions"`

	name    string
	sorted  []*semver.Version // ascending; nil until needed
	decoded map[string]*release
}

// release is a version of a package.
type release struct {
	manifest
	Dist struct {
		Tarball   string `json:"tarball"`
		Integrity string `json:"integrity"`
	} `json:"dist"`

	name  string // in the registry
	edges []edge
}

// release returns a version, or nil if there is none, or if it is malformed.
func (d *document) release(version string) *release {
	if r, ok := d.decoded[version]; ok {
		return r
	}
	raw, ok := d.Versions[version]
	if !ok {
		return nil
	}
	r := new(release)
	if err := json.Unmarshal(raw, r, options); err != nil {
		r = nil
	} else {
		r.name, r.Version, r.edges = d.name, version, r.manifest.edges()
	}
	if d.decoded == nil {
		d.decoded = map[string]*release{}
	}
	d.decoded[version] = r
	return r
}

// deprecated reports whether the authors of a version advise against its use.
func (r *release) deprecated() bool {
	switch string(r.Deprecated) {
	case "", "null", "false", `""`:
		return false
	}
	return true
}

// pick returns the version that npm selects: of a range, the version with the tag latest if it matches, otherwise the
// highest version. Deprecated versions come last. A version of preferred, the versions of an outdated lock file, comes
// first. pick returns nil if no version matches.
func (d *document) pick(spec string, preferred []string) *release {
	if version, ok := d.Tags[spec]; ok {
		return d.release(version)
	}
	if r := d.release(strings.TrimLeft(spec, "v= ")); r != nil {
		return r
	}
	matches := matcher(spec)
	if matches == nil {
		return nil
	}
	for _, version := range preferred {
		if r := d.release(version); r != nil && matches(version) {
			return r
		}
	}
	latest := d.release(d.Tags["latest"])
	if latest != nil && !latest.deprecated() && (isAny(spec) || matches(latest.Version)) {
		return latest
	}
	var deprecated *release
	for _, version := range slices.Backward(d.ascending()) {
		if !matches(version.String()) {
			continue
		}
		r := d.release(version.String())
		if r != nil && !r.deprecated() {
			return r
		}
		if deprecated == nil {
			deprecated = r
		}
	}
	return deprecated
}

// ascending returns the versions in ascending order.
func (d *document) ascending() []*semver.Version {
	if d.sorted == nil {
		for text := range d.Versions {
			if v, err := semver.NPM.Parse(text); err == nil && v.String() == text {
				d.sorted = append(d.sorted, v)
			}
		}
		slices.SortFunc(d.sorted, (*semver.Version).Compare)
	}
	return d.sorted
}

// isAny reports whether a range matches every version.
func isAny(spec string) bool { return spec == "" || spec == "*" }

// matcher returns a function that reports whether a version is in a range. It returns nil if spec is not a range.
func matcher(spec string) func(version string) bool {
	all := alternatives(spec)
	if all == nil {
		return nil
	}
	return func(version string) bool {
		parsed, err := semver.NPM.Parse(version)
		return err == nil && slices.ContainsFunc(all, func(c *semver.Constraint) bool { return c.MatchVersion(parsed) })
	}
}

// satisfies reports whether a version of a package satisfies a dependency. If the dependency names a tag, every version
// does, because a tag can have moved since the version was selected. If a rule of overrides replaced the version of the
// dependency, a version of the original range is also suitable, unless the rule applies to that version.
func satisfies(e edge, name, version string) bool {
	if matchesSpec(e.name, e.spec, name, version) {
		return true
	}
	return e.spec != e.raw && e.rules != nil && matchesSpec(e.name, e.raw, name, version) &&
		!matchesSpec(e.name, e.rules.versions, name, version)
}

// matchesSpec reports whether a version of a package satisfies one range. As in npm, a package that is installed under
// an alias satisfies the dependencies of other packages on that alias.
func matchesSpec(dependency, spec, name, version string) bool {
	wanted, spec, err := target(edge{name: dependency, spec: spec})
	if err != nil || wanted != name && wanted != dependency {
		return false
	}
	matches := matcher(spec)
	return matches == nil || isAny(spec) || matches(version)
}

// intersects reports whether a version can be in both ranges. A tag can be any version.
func intersects(a, b string) bool {
	as, bs := alternatives(a), alternatives(b)
	if as == nil || bs == nil {
		return true
	}
	for _, x := range as {
		for _, y := range bs {
			set := x.Set()
			if err := set.Intersect(y.Set()); err == nil && !set.Empty() {
				return true
			}
		}
	}
	return false
}

// alternatives returns the parts of a range between "||", or nil if spec is not a range. As npm does, it ignores words
// that are not versions, such as the tag in ">=3 || insiders". The library does not parse the range as a whole, because
// then "^19 || ^19.0.0-rc" does not match 19.0.0-rc.1.
func alternatives(spec string) (all []*semver.Constraint) {
	for part := range strings.SplitSeq(spec, "||") {
		if part = strings.TrimSpace(part); part == "" {
			part = "*"
		}
		if c, err := semver.NPM.ParseConstraint(part); err == nil {
			all = append(all, c)
			continue
		}
		var kept []string
		for word := range strings.FieldsSeq(part) {
			if _, err := semver.NPM.ParseConstraint(word); err == nil {
				kept = append(kept, word)
			}
		}
		if c, err := semver.NPM.ParseConstraint(strings.Join(kept, " ")); err == nil && len(kept) > 0 {
			all = append(all, c)
		}
	}
	return all
}
