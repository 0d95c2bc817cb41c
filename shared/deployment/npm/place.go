package npm

import (
	"context"
	"fmt"
)

// fit says whether a package can be placed in the node_modules folder of a node.
type fit int

const (
	conflict fit = iota // another package there depends on a different version
	free                // the name is not used there
	keep                // a suitable version is there already
	replace             // the version there can be replaced
)

// place puts a version into the tree, for a dependency of from: into the folder nearest to the root where it and its
// peers fit.
func (r *resolver) place(ctx context.Context, from *node, e edge, picked *release) error {
	start := from
	if e.kind == peer && from.parent != nil {
		start = from.parent
	}
	start = deepest(start, e.name)
	var best *node
	var how fit
	for at := start; at != nil; at = at.parent {
		if ctx.Err() != nil { // a fit in a large tree takes long
			return ctx.Err() //nolint:wrapcheck // Install classifies it
		}
		if at.parent != nil && hasPeer(at, e.name) {
			continue
		}
		f, err := r.fitWithPeers(ctx, at, from, e, picked, map[string]bool{})
		if err != nil {
			return err
		}
		if f == conflict {
			break
		}
		best, how = at, f
	}
	switch {
	case best != nil && how == keep:
		return nil
	case best == nil && e.kind == peer && start.find(e.name) != nil:
		from.ignored[e.name] = true // keep the version that is there
		return nil
	case best == nil:
		best = start
	}
	return r.put(ctx, best, newNode(e, picked, from))
}

// deepest returns the node that is nearest to n and below which a package can be placed. A peer must not be below the
// package that needs it.
func deepest(n *node, name string) *node {
	for n.parent != nil && hasPeer(n, name) {
		n = n.parent
	}
	return n
}

func hasPeer(n *node, name string) bool {
	e, ok := n.edge(name)
	return ok && e.kind.isPeer()
}

// maxChain is the number of peers that may follow each other: the peer of a package, the peer of that peer, and so on.
const maxChain = 100

// put places a node, replaces the node that is there, and enqueues all nodes that the change affects. It then places
// the peers of the node, and they theirs. Peers that contradict each other would replace each other without end.
func (r *resolver) put(ctx context.Context, at *node, n *node) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err() //nolint:wrapcheck // Install classifies it
	case r.nodes > maxNodes || r.edges > maxTreeEdges:
		return errTooMany
	case r.chain >= maxChain:
		return r.conflicting(n)
	}
	r.chain++
	defer func() { r.chain-- }()
	if old := at.children[n.name]; old != nil {
		old.walk(func(gone *node) { gone.removed = true })
		at.walk(func(below *node) {
			if !below.removed {
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
		r.refine(n.find(e.name), e.rules)
	}
	for _, dependent := range r.byName[n.name] {
		e, _ := dependent.edge(n.name)
		switch {
		case dependent.removed || !dependent.within(at):
		case !r.satisfied(dependent, e):
			r.enqueue(dependent)
		case dependent.find(n.name) == n:
			r.refine(n, e.rules)
		}
	}
	// The peers belong beside the package, before something else takes their place.
	for _, e := range n.edges {
		if e.kind != peer || r.satisfied(n, e) || n.removed {
			continue
		}
		picked, err := r.pick(ctx, n.source, e)
		if isMissing(err) {
			return r.missing(n, e)
		}
		if err != nil {
			return err
		}
		if err := r.place(ctx, n, e, picked); err != nil {
			return err
		}
	}
	return nil
}

// conflicting returns the error for a package whose peers need other versions of each other again and again.
func (r *resolver) conflicting(n *node) error {
	return r.project.failure(r.dependency(n).name, fmt.Sprintf("The peerDependencies of %s@%s and %s@%s conflict, or "+
		"need more than %d further packages. Select versions of them that fit together.", n.source.release.name,
		n.source.release.Version, n.release.name, n.release.Version, maxChain))
}

// fitWithPeers reports whether a version fits into the folder of at together with its peers. An optional peer counts if
// another version of it is there. Only a dependency of the project is also placed if a peer does not fit: then the
// project selects the peer.
func (r *resolver) fitWithPeers(
	ctx context.Context, at, from *node, e edge, picked *release, seen map[string]bool,
) (fit, error) {
	seen[e.name] = true
	f := r.fit(at, from, e, picked)
	if f == conflict || f == keep {
		return f, nil
	}
	for _, p := range e.rules.apply(picked.edges) {
		if ctx.Err() != nil {
			return conflict, ctx.Err() //nolint:wrapcheck // Install classifies it
		}
		if !p.kind.isPeer() || seen[p.name] {
			continue
		}
		at := deepest(at, p.name)
		found := at.find(p.name)
		if found == nil && p.kind == optionalPeer || found != nil && satisfies(p, found.release.name, found.release.Version) {
			continue
		}
		picked, err := r.pick(ctx, from, p)
		if isMissing(err) {
			continue // put reports it
		}
		if err != nil {
			return conflict, err
		}
		peerFit, err := r.fitWithPeers(ctx, at, from, p, picked, seen)
		if err != nil || peerFit == conflict && (at.parent != nil || from != r.root) {
			return conflict, err
		}
	}
	return f, nil
}

// fit reports whether a version fits into the folder of at, by npm's rules.
func (r *resolver) fit(at, from *node, e edge, picked *release) fit {
	own, ok := at.edge(e.name)
	if ok && at.parent != nil && own.kind.isPeer() {
		return conflict
	}
	if ok && (at != from || own != e) && !satisfies(own, picked.name, picked.Version) {
		return conflict
	}
	current := at.children[e.name]
	switch {
	case current == nil && at != from && !r.canReplace(at, at.find(e.name), picked, e):
		return conflict
	case current == nil:
		return free
	case current.release == picked:
		return keep
	case newer(picked, current.release) && r.canReplace(at, current, picked, e):
		return replace
	case satisfies(e, current.release.name, current.release.Version):
		return keep
	case e.kind == peer && r.canReplace(at, current, picked, e):
		return replace
	case at == from:
		return replace // it was placed here only for packages below
	}
	return conflict
}

// canReplace reports whether all packages below at that use current also accept another version.
func (r *resolver) canReplace(at, current *node, picked *release, e edge) bool {
	if current == nil {
		return true
	}
	for _, n := range r.byName[e.name] {
		own, _ := n.edge(e.name)
		if n.removed || !n.within(at) || n.ignored[e.name] || n.find(e.name) != current {
			continue
		}
		if r.satisfied(n, own) && !satisfies(own, picked.name, picked.Version) {
			return false
		}
	}
	return true
}
