package npm

import (
	"context"
	"fmt"
	"slices"

	"deps.dev/util/semver"
)

// placeDependency puts a version into the tree, for a dependency of from: into the folder nearest to the root in which
// the version and its peers fit. A peer must not be below the package that needs it.
func (r *resolver) placeDependency(ctx context.Context, from *node, e edge, picked *release) error {
	start := from
	if e.kind == peer && from.parent != nil {
		start = from.parent
	}
	for start.parent != nil && hasPeer(start, e.name) {
		start = start.parent
	}
	var best *node
	for at := start; at != nil; at = at.parent {
		if ctx.Err() != nil { // fits takes long in a large tree
			return ctx.Err()
		}
		if at.parent != nil && hasPeer(at, e.name) {
			continue
		}
		if !r.fits(ctx, at, from, e, picked) {
			break
		}
		best = at
	}
	switch {
	case best == nil && e.kind == peer && start.find(e.name) != nil:
		from.ignored[e.name] = true // keep the version that is there
		return nil
	case best == nil:
		best = start
	}
	if child := best.children[e.name]; child != nil && child.release == picked {
		return nil // a peer that cannot be satisfied
	}
	return r.putNode(ctx, best, newNode(e, picked, from))
}

func hasPeer(n *node, name string) bool {
	e, ok := n.edge(name)
	return ok && e.kind.isPeer()
}

// putNode places a node, replaces the node that is there, and enqueues all nodes that the change affects.
func (r *resolver) putNode(ctx context.Context, at *node, n *node) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.nodes > maxNodes || r.edges > maxTreeEdges:
		return errTooMany
	}
	if old := at.children[n.name]; old != nil {
		old.walk(func(below *node) { below.isRemoved = true })
		at.walk(func(below *node) {
			if !below.isRemoved {
				r.enqueue(below) // it may have used a package below the replaced one
			}
		})
	}
	n.placeIn(at)
	if !isLocation(n.location) { // the locations of a deep tree would need the square of its memory
		needs := r.dependency(n).release
		return r.project.failure(r.dependency(n).name, fmt.Sprintf("%s@%s needs packages that are nested too deeply, "+
			"because each needs other versions of the same packages. Use another version of it.", needs.name, needs.Version))
	}
	r.add(n)
	for _, e := range n.edges {
		r.refine(ctx, n.find(e.name), e.rules)
	}
	for _, dependent := range r.byName[n.name] {
		e, _ := dependent.edge(n.name)
		switch {
		case dependent.isRemoved || !dependent.isWithin(at):
		case !r.isSatisfied(dependent, e):
			r.enqueue(dependent)
		case dependent.find(n.name) == n:
			r.refine(ctx, n, e.rules)
		}
	}
	// The peers belong beside the package, before something else takes their place.
	for _, e := range n.edges {
		if e.kind == peer && !n.isRemoved {
			if err := r.resolveEdge(ctx, n, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// fits reports whether a version fits into the folder of at: all packages below that use another version accept it, and
// its peers that are there fit, or can be replaced. A dependency of the project is also placed if a peer does not fit:
// then the project selects the peer.
func (r *resolver) fits(ctx context.Context, at, from *node, e edge, picked *release) bool {
	dependency, ok := at.edge(e.name)
	child := at.children[e.name]
	switch {
	case ok && (at != from || dependency != e) && !satisfies(dependency, picked.name, picked.Version),
		child != nil && at != from && e.kind != peer && (child.release.name != picked.name ||
			semver.NPM.Compare(picked.Version, child.release.Version) < 0),
		!r.accepts(at, at.find(e.name), picked):
		return false
	case from == r.root && at == r.root:
		return true
	}
	for _, p := range e.rules.apply(picked.edges) {
		found := at.find(p.name)
		if !p.kind.isPeer() || found == nil || satisfies(p, found.release.name, found.release.Version) {
			continue
		}
		other, err := r.pick(ctx, from, p)
		if err != nil || !r.accepts(found.parent, found, other) {
			return false
		}
	}
	return true
}

// accepts reports whether all packages below at that use current also accept another version.
func (r *resolver) accepts(at, current *node, picked *release) bool {
	if current == nil {
		return true
	}
	return !slices.ContainsFunc(r.byName[current.name], func(n *node) bool {
		dependency, _ := n.edge(current.name)
		return !n.isRemoved && n.isWithin(at) && !n.ignored[current.name] && n.find(current.name) == current &&
			r.isSatisfied(n, dependency) && !satisfies(dependency, picked.name, picked.Version)
	})
}
