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
}

func newNode(name string, r *release, source *node) *node {
	n := &node{name: name, release: r, source: source, children: map[string]*node{}, ignored: map[string]bool{}}
	if r != nil {
		n.edges = r.edges
	}
	return n
}

func (n *node) depth() (d int) {
	for ; n.parent != nil; n = n.parent {
		d++
	}
	return d
}

func (n *node) location() string {
	if n.parent == nil {
		return ""
	}
	return strings.TrimPrefix(n.parent.location()+"/node_modules/"+n.name, "/")
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
	nodes     int
	chain     int // the calls of put that have not returned
}

// resolve selects the versions of a project without a lock file. Versions of preferred are selected if they match.
func resolve(ctx context.Context, s *session, p *project, preferred map[string][]string) ([]selected, error) {
	s.prefetch(ctx, p.edges, preferred)
	root := newNode("", nil, nil)
	root.edges = p.edges
	r := &resolver{session: s, preferred: preferred, project: p, root: root, byName: map[string][]*node{}}
	r.add(root)
	for len(r.queue) > 0 {
		if err := r.resolveNode(ctx, r.next()); err != nil {
			return nil, err
		}
	}
	return r.selected(), nil
}

// add puts a new node into the queue.
func (r *resolver) add(n *node) {
	r.nodes++
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
		depth, bestDepth := n.depth(), r.queue[best].depth()
		if depth < bestDepth || depth == bestDepth && n.location() < r.queue[best].location() {
			best = i
		}
	}
	n := r.queue[best]
	r.queue = slices.Delete(r.queue, best, best+1)
	return n
}

// maxNodes is the number of packages that may be placed before unneeded ones are removed.
const maxNodes = 4 * maxPackages

// resolveNode installs the dependencies of n that are missing or have the wrong version.
func (r *resolver) resolveNode(ctx context.Context, n *node) error {
	for _, e := range n.edges {
		if ctx.Err() != nil { // documents that were read before need no further requests
			return ctx.Err() //nolint:wrapcheck // Install classifies it
		}
		if n.removed || r.satisfied(n, e) || e.kind == optionalPeer {
			continue
		}
		source := n
		if e.kind == peer && n.source != nil {
			source = n.source
		}
		picked, err := r.pick(ctx, source, e)
		switch {
		case err == nil:
		case (isMissing(err) || isRefused(err)) && e.kind == optional:
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
		if r.nodes > maxNodes {
			return tooMany()
		}
	}
	return nil
}

// isMissing reports whether the registry does not have a package or a version.
func isMissing(err error) bool { return errors.Is(err, errMissing) }

// pick returns the version for a dependency. The range of a peer is often wide, so a version is selected that
// also satisfies the dependency of source on the same name, if it has one.
func (r *resolver) pick(ctx context.Context, source *node, e edge) (*release, error) {
	picked, err := r.session.pick(ctx, e, r.preferred)
	if err != nil || e.kind != peer {
		return picked, err
	}
	for ; source != nil; source = source.parent {
		own, ok := source.edge(e.name)
		if !ok || own == e || own.kind == optionalPeer || satisfies(own, picked.name, picked.Version) && isRange(own) {
			continue
		}
		return r.session.pick(ctx, own, r.preferred)
	}
	return picked, nil
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
	if found == nil {
		return e.kind == optionalPeer
	}
	return satisfies(e, found.release.name, found.release.Version)
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

// selected returns the packages that the project needs. Others are left over from versions that were replaced.
func (r *resolver) selected() []selected {
	found := map[*node]bool{r.root: true}
	queue := []*node{r.root}
	var packages []selected
	for ; len(queue) > 0; queue = queue[1:] {
		for _, e := range queue[0].edges {
			n := queue[0].find(e.name)
			if n == nil || found[n] {
				continue
			}
			found[n] = true
			queue = append(queue, n)
			packages = append(packages, selected{
				location: n.location(), name: n.release.name, version: n.release.Version,
				integrity: n.release.Dist.Integrity, tarball: n.release.Dist.Tarball,
			})
		}
	}
	slices.SortFunc(packages, func(a, b selected) int { return strings.Compare(a.location, b.location) })
	return packages
}

// newer reports whether a is a version of the same package as b, and at least as high.
func newer(a, b *release) bool {
	return a.name == b.name && semver.NPM.Compare(a.Version, b.Version) >= 0
}
