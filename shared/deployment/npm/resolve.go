package npm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deps.dev/util/semver"
)

// node is a package in the tree of node_modules folders. The root is the project.
type node struct {
	release  *release
	name     string // in node_modules, which is not the name in the registry if the dependency is an alias
	parent   *node
	children map[string]*node
	edges    []edge
	// source is the package whose dependency brought this one. Its versions are preferred for the peers.
	source *node
	// ignored are the names of dependencies that cannot be satisfied: optional ones that do not exist, and peers that
	// conflict with other packages. npm would report some conflicts as errors; like npm install --force, this package
	// uses the version that is there, because a second copy of a peer such as React breaks an application.
	ignored map[string]bool
	removed bool
	rules   *override // the rules for the dependencies
	// depth and location are set when the node is placed.
	depth    int
	location string
}

// newNode returns a node for a dependency of source.
func newNode(e edge, r *release, source *node) *node {
	return &node{
		name: e.name, release: r, source: source, rules: e.rules, edges: e.rules.apply(r.edges),
		children: map[string]*node{}, ignored: map[string]bool{},
	}
}

// placeIn makes n a child of parent.
func (n *node) placeIn(parent *node) {
	n.parent, n.depth = parent, parent.depth+1
	n.location = strings.TrimPrefix(parent.location+"/node_modules/"+n.name, "/")
	parent.children[n.name] = n
}

// find returns the package that a name means in n, as Node.js finds it, or nil.
func (n *node) find(name string) *node {
	for ; n != nil; n = n.parent {
		if child := n.children[name]; child != nil {
			return child
		}
	}
	return nil
}

func (n *node) edge(name string) (edge, bool) {
	for _, e := range n.edges {
		if e.name == name {
			return e, true
		}
	}
	return edge{}, false
}

// within reports whether n is ancestor or below it.
func (n *node) within(ancestor *node) bool {
	for ; n != nil; n = n.parent {
		if n == ancestor {
			return true
		}
	}
	return false
}

// walk calls visit for n and all nodes below it.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, child := range n.children {
		child.walk(visit)
	}
}

// resolver selects versions as npm 7 and later do: the packages that are nearest to the root first; each as near to the
// root as it fits; and peers beside the package that needs them.
type resolver struct {
	session   *session
	preferred map[string][]string
	project   *project
	root      *node
	queue     []*node
	byName    map[string][]*node // the nodes that depend on a name
	nodes     int                // placed until now, also if they were removed
	edges     int                // of these nodes
	chain     int                // the calls of put that have not returned
}

// resolve selects the versions of a project without a lock file. Versions of preferred are selected if they match.
// The warnings name peers that conflict.
func resolve(
	ctx context.Context, s *session, p *project, preferred map[string][]string,
) (packages []selected, warnings []string, err error) {
	s.prefetch(ctx, p.edges, preferred)
	root := &node{rules: p.rules, edges: p.edges, children: map[string]*node{}, ignored: map[string]bool{}}
	r := &resolver{session: s, preferred: preferred, project: p, root: root, byName: map[string][]*node{}}
	r.add(root)
	for len(r.queue) > 0 {
		if err := r.resolveNode(ctx, r.next()); errors.Is(err, errTooMany) {
			return nil, nil, tooMany(r.origins())
		} else if err != nil {
			return nil, nil, err
		}
	}
	packages, warnings = r.selected()
	if len(packages) > maxPackages {
		return nil, nil, tooMany(r.origins())
	}
	return packages, warnings, nil
}

// origins returns the dependency of the project that brought each package.
func (r *resolver) origins() (names []string) {
	r.root.walk(func(n *node) {
		if n != r.root {
			names = append(names, r.dependency(n).name)
		}
	})
	return names
}

// add puts a new node into the queue.
func (r *resolver) add(n *node) {
	r.nodes++
	r.edges += len(n.edges)
	for _, e := range n.edges {
		r.byName[e.name] = append(r.byName[e.name], n)
	}
	r.enqueue(n)
}

func (r *resolver) enqueue(n *node) {
	if !slices.Contains(r.queue, n) {
		r.queue = append(r.queue, n)
	}
}

// next removes the node that is nearest to the root from the queue.
func (r *resolver) next() *node {
	best := 0
	for i, n := range r.queue {
		b := r.queue[best]
		if n.depth < b.depth || n.depth == b.depth && n.location < b.location {
			best = i
		}
	}
	n := r.queue[best]
	r.queue = slices.Delete(r.queue, best, best+1)
	return n
}

// maxNodes and maxTreeEdges are the numbers of packages and of their dependencies that may be placed before unneeded
// ones are removed.
const (
	maxNodes     = 4 * maxPackages
	maxTreeEdges = 2 * maxEdges
)

// resolveNode installs the dependencies of n that are missing or have the wrong version.
func (r *resolver) resolveNode(ctx context.Context, n *node) error {
	for _, e := range n.edges {
		if ctx.Err() != nil { // documents that were read before need no further requests
			return ctx.Err() //nolint:wrapcheck // Install classifies it
		}
		if n.removed {
			return nil
		}
		if r.satisfied(n, e) {
			r.refine(n.find(e.name), e.rules)
			continue
		}
		if e.kind == optionalPeer || e.kind == development {
			continue
		}
		source := n
		if e.kind == peer && n.source != nil {
			source = n.source
		}
		picked, err := r.pick(ctx, source, e)
		switch {
		case err == nil:
		case (isMissing(err) || errors.Is(err, errRefused)) && e.kind == optional:
			n.ignored[e.name] = true
			continue
		case isMissing(err):
			return r.missing(n, e)
		default:
			return err
		}
		if e.kind == optional && picked.native() {
			n.ignored[e.name] = true
			continue
		}
		if err := r.place(ctx, n, e, picked); err != nil {
			return err
		}
	}
	return nil
}

// refine applies the rules of a dependency to the package that satisfies it, if they are below the rules that apply to
// the package: several packages that depend on it can have different rules for its dependencies, and the most specific
// ones win.
func (r *resolver) refine(n *node, rules *override) {
	if n == nil || n.release == nil || !rules.isBelow(n.rules) {
		return
	}
	n.rules, n.edges = rules, rules.apply(n.release.edges)
	r.enqueue(n)
}

// isMissing reports whether the registry does not have a package or a version.
func isMissing(err error) bool { return errors.Is(err, errMissing) }

// pick returns the version for a dependency. The range of a peer is often wide, so a version is selected that
// also satisfies the dependency of source on the same name, if it has one.
func (r *resolver) pick(ctx context.Context, source *node, e edge) (*release, error) {
	picked, err := r.session.pick(ctx, e, r.preferred)
	if err != nil || !e.kind.isPeer() {
		return picked, err
	}
	own, ok := source.edge(e.name)
	if !ok || own == e || own.kind == optionalPeer || satisfies(own, picked.name, picked.Version) && isRange(own) {
		return picked, nil
	}
	return r.session.pick(ctx, own, r.preferred)
}

// isRange reports whether a dependency names a version or a range, and not a tag. Then satisfies is exact.
func isRange(e edge) bool {
	_, spec, err := target(e)
	return err == nil && matcher(spec) != nil
}

// satisfied reports whether a dependency of n has a suitable version in the tree.
func (r *resolver) satisfied(n *node, e edge) bool {
	if n.ignored[e.name] {
		return true
	}
	from := n
	if e.kind.isPeer() && n.parent != nil {
		from = n.parent
	}
	found := from.find(e.name)
	return found != nil && satisfies(e, found.release.name, found.release.Version)
}

// missing returns the error for a dependency that does not exist in the registry.
func (r *resolver) missing(n *node, e edge) error {
	name, spec, err := target(e)
	message := fmt.Sprintf("%s@%s is not in the npm registry. Check the name and the version.", name, spec)
	if err != nil {
		message = err.Message
	}
	if n == r.root {
		return r.project.failure(e.name, message)
	}
	return r.project.failure(r.dependency(n).name, fmt.Sprintf("%s@%s needs a package that cannot be installed: %s",
		n.release.name, n.release.Version, message))
}

// dependency returns the dependency of the project that brought n.
func (r *resolver) dependency(n *node) *node {
	for n.source != r.root {
		n = n.source
	}
	return n
}

// maxPeerWarnings is the maximum number of warnings about peers.
const maxPeerWarnings = 10

// selected returns the packages that the project needs, and warnings about their peers. Other packages in the tree are
// left over from versions that were replaced.
func (r *resolver) selected() (packages []selected, warnings []string) {
	found := map[*node]bool{r.root: true}
	for queue := []*node{r.root}; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for _, e := range from.edges {
			n := from.find(e.name)
			if n == nil || e.kind == development {
				continue
			}
			if e.kind.isPeer() && from != r.root && !satisfies(e, n.release.name, n.release.Version) {
				warnings = append(warnings, fmt.Sprintf("%s@%s expects %s@%s, but %s is installed. If the site does not work, "+
					"select versions that fit together.", from.release.name, from.release.Version, e.name, e.spec,
					n.release.Version))
			}
			if found[n] {
				continue
			}
			found[n] = true
			queue = append(queue, n)
			packages = append(packages, selected{
				location: n.location, name: n.release.name, version: n.release.Version,
				integrity: n.release.Dist.Integrity, tarball: n.release.Dist.Tarball, origin: r.dependency(n).name,
			})
		}
	}
	slices.SortFunc(packages, func(a, b selected) int { return strings.Compare(a.location, b.location) })
	return packages, warnings[:min(len(warnings), maxPeerWarnings)]
}

// newer reports whether a is a version of the same package as b, and at least as high.
func newer(a, b *release) bool {
	return a.name == b.name && semver.NPM.Compare(a.Version, b.Version) >= 0
}
