package npm

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"deps.dev/util/semver"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// document is the registry's document of a package, in the abbreviated form. The versions are decoded when they are
// needed, because a popular package has thousands.
type document struct {
	Tags     entries[string]         `json:"dist-tags"`
	Versions entries[jsontext.Value] `json:"versions"`

	name       string
	memory     *atomic.Int64     // see session
	sorted     []*semver.Version // ascending; nil until needed
	releases   map[string]*release
	deprecated map[string]bool // whether a version is deprecated; only of versions that were examined
}

// The maximum memory that parts of documents need, in bytes.
const (
	entryMemory   = 200 // for each name of an object
	releaseMemory = 20  // for each byte of a version that is decoded
	versionMemory = 300 // for each version number that is parsed
	textMemory    = 10  // for each byte of such a number
)

// maxRelease is the maximum number of bytes of a version. A version of a large package has a few thousand.
const maxRelease = 1 << 20

// entries is a JSON object with at most maxEntries names. In memory, a name needs many times the bytes of its JSON.
type entries[V any] map[string]V

const maxEntries = 50_000

var errEntries = errors.New("npm: an object has too many names")

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (e *entries[V]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if kind := d.PeekKind(); kind != '{' {
		return json.UnmarshalDecode(d, (*map[string]V)(e))
	}
	_, _ = d.ReadToken()
	*e = entries[V]{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		var value V
		if err := json.UnmarshalDecode(d, &value); err != nil {
			return err
		}
		if (*e)[key] = value; len(*e) > maxEntries {
			return errEntries
		}
	}
	_, err := d.ReadToken()
	return err
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

// release returns a version, or nil if there is none, if it is malformed or too large, or if no memory is left for it.
func (d *document) release(version string) *release {
	if r, ok := d.releases[version]; ok {
		return r
	}
	raw, ok := d.Versions[version]
	if !ok || len(raw) > maxRelease || d.memory.Add(releaseMemory*int64(len(raw))) > maxMemory {
		return nil
	}
	r := new(release)
	if err := json.Unmarshal(raw, r, options); err != nil {
		r = nil
	} else {
		r.name, r.Version, r.edges = d.name, version, r.manifest.edges()
	}
	d.releases[version] = r
	return r
}

// isDeprecated reports whether the authors of a version advise against its use. It keeps no other part of the version,
// because a package can have many deprecated versions.
func (d *document) isDeprecated(version string) bool {
	if known, ok := d.deprecated[version]; ok {
		return known
	}
	var r struct {
		Deprecated jsontext.Value `json:"deprecated"` // a message, or a boolean
	}
	_ = json.Unmarshal(d.Versions[version], &r, options) // release ignores a malformed version
	d.deprecated[version] = !slices.Contains([]string{"", "null", "false", `""`}, string(r.Deprecated))
	return d.deprecated[version]
}

// pick returns the version that npm selects: of a range, the version with the tag latest if it matches, otherwise the
// highest version. Deprecated versions come last. A version of preferred, the versions of an outdated lock file, comes
// first. pick returns nil if no version matches, if no memory is left, or after the end of ctx.
func (d *document) pick(ctx context.Context, spec string, preferred []string) *release {
	if ctx.Err() != nil {
		return nil
	}
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
	if latest := d.Tags["latest"]; !d.isDeprecated(latest) && (isAny(spec) || matches(latest)) {
		if r := d.release(latest); r != nil {
			return r
		}
	}
	deprecated := ""
	for _, version := range slices.Backward(d.ascending(ctx)) {
		text := version.String()
		switch {
		case ctx.Err() != nil:
			return nil
		case !matches(text):
			continue
		}
		if d.isDeprecated(text) {
			deprecated = cmp.Or(deprecated, text)
		} else if r := d.release(text); r != nil {
			return r
		}
	}
	if deprecated == "" {
		return nil
	}
	return d.release(deprecated)
}

// ascending returns the versions in ascending order. It returns nil if no memory is left for them, or after the end of
// ctx: a hostile document has versions whose order takes a minute.
func (d *document) ascending(ctx context.Context) []*semver.Version {
	if d.sorted != nil {
		return d.sorted
	}
	var sorted []*semver.Version
	for text := range d.Versions {
		if ctx.Err() != nil || d.memory.Add(versionMemory+textMemory*int64(len(text))) > maxMemory {
			return nil
		}
		if v, ok := parseVersion(text); ok && v.String() == text {
			sorted = append(sorted, v)
		}
	}
	slices.SortFunc(sorted, func(a, b *semver.Version) int {
		if ctx.Err() != nil {
			return 0
		}
		return a.Compare(b)
	})
	if ctx.Err() != nil {
		return nil
	}
	d.sorted = sorted
	return sorted
}

// parseVersion parses a version. As in npm, it can have 256 characters: a parsed version needs many times the memory of
// its text.
func parseVersion(text string) (v *semver.Version, ok bool) {
	if len(text) > maxSpec {
		return nil, false
	}
	v, err := semver.NPM.Parse(text)
	return v, err == nil
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
		parsed, ok := parseVersion(version)
		return ok && slices.ContainsFunc(all, func(c *semver.Constraint) bool { return c.MatchVersion(parsed) })
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
