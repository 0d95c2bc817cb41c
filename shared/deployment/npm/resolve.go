package npm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// resolver selects versions as npm 7 and later do: the packages that are nearest to the root first; each as near to the
// root as it fits; and peers beside the package that needs them.
type resolver struct {
	session           *session
	preferredVersions map[string][]string
	project           *project
	root              *node
	queue             []*node
	byName            map[string][]*node // the nodes that depend on a name
	nodes             int                // placed until now, even if they were removed
	edges             int                // of these nodes
}

// maxPeerWarnings is the maximum number of warnings about peers.
const maxPeerWarnings = 10

// resolve selects the versions of a project without a lock file. Versions of preferred are selected if they match.
// The warnings name peers that conflict.
func resolve(
	ctx context.Context, s *session, p *project, preferred map[string][]string,
) (packages []selectedPackage, warnings []string, err error) {
	s.prefetch(ctx, p.edges, preferred)
	root := &node{rules: p.rules, edges: p.edges, children: map[string]*node{}, ignored: map[string]bool{}}
	r := &resolver{session: s, preferredVersions: preferred, project: p, root: root, byName: map[string][]*node{}}
	r.add(root)
	for len(r.queue) > 0 {
		switch err := r.resolveNode(ctx, r.next()); {
		case errors.Is(err, errTooMany):
			packages, err = r.root.neededPackages(func(*node, edge, *node) bool { return true })
			if err == nil {
				err = tooManyError(packages)
			}
			return nil, nil, err
		case err != nil:
			return nil, nil, err
		}
	}
	packages, err = r.root.neededPackages(func(from *node, e edge, to *node) bool {
		if to != nil && e.kind.isPeer() && from != r.root && !satisfies(e, to.release.name, to.release.Version) &&
			len(warnings) < maxPeerWarnings {
			warnings = append(warnings, fmt.Sprintf("%s@%s expects %s@%s, but %s is installed. If the site does not work, "+
				"select versions that fit together.", from.release.name, from.release.Version, e.name, e.spec,
				to.release.Version))
		}
		return true
	})
	return packages, warnings, err
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
	nearest := slices.MinFunc(r.queue, func(a, b *node) int {
		return cmp.Or(a.depth-b.depth, strings.Compare(a.location, b.location))
	})
	r.queue = slices.DeleteFunc(r.queue, func(n *node) bool { return n == nearest })
	return nearest
}

// maxNodes and maxTreeEdges are the maximum numbers of packages and of their dependencies that may be placed, with the
// packages that are removed later.
const (
	maxNodes     = 4 * maxPackages
	maxTreeEdges = 2 * maxEdges
)

// resolveNode installs the dependencies of n that are missing or have the wrong version.
func (r *resolver) resolveNode(ctx context.Context, n *node) error {
	for _, e := range n.edges {
		if ctx.Err() != nil { // if all documents were read before, no request checks ctx
			return ctx.Err()
		}
		if n.isRemoved {
			return nil
		}
		if err := r.resolveEdge(ctx, n, e); err != nil {
			return err
		}
	}
	return nil
}

func (r *resolver) resolveEdge(ctx context.Context, n *node, e edge) error {
	if r.isSatisfied(n, e) {
		r.refine(ctx, n.find(e.name), e.rules)
		return nil
	}
	if e.kind == optionalPeer || e.kind == development {
		return nil
	}
	source := n
	if e.kind == peer && n.source != nil {
		source = n.source
	}
	picked, err := r.pick(ctx, source, e)
	switch isMissing := errors.Is(err, errMissing); {
	case e.kind == optional && (isMissing || errors.Is(err, errRefused) || err == nil && picked.isNative()):
		n.ignored[e.name] = true
		return nil
	case isMissing:
		return r.missingError(n, e)
	case err != nil:
		return err
	}
	return r.placeDependency(ctx, n, e, picked)
}

// refine applies the rules of a dependency to the package n that satisfies it, if they are below the rules that apply
// to n: packages that depend on n can have different rules for the dependencies of n, and the most specific rules win.
// refine does nothing after the end of ctx.
func (r *resolver) refine(ctx context.Context, n *node, rules *override) {
	if n == nil || n.release == nil || !rules.isBelow(n.rules) || ctx.Err() != nil {
		return
	}
	n.rules, n.edges = rules, rules.apply(n.release.edges)
	r.enqueue(n)
}

// pick returns the version for a dependency. The range of a peer is often wide, so a version is selected that
// also satisfies the dependency of source on the same name, if it has one.
func (r *resolver) pick(ctx context.Context, source *node, e edge) (*release, error) {
	picked, err := r.session.pick(ctx, e, r.preferredVersions)
	if err != nil || !e.kind.isPeer() {
		return picked, err
	}
	other, ok := source.edge(e.name)
	if !ok || other == e || other.kind == optionalPeer || satisfies(other, picked.name, picked.Version) && isRange(other) {
		return picked, nil
	}
	return r.session.pick(ctx, other, r.preferredVersions)
}

// isRange reports whether a dependency names a version or a range, and not a tag. Then satisfies is exact.
func isRange(e edge) bool {
	_, spec, err := target(e)
	return err == nil && matcher(spec) != nil
}

// isSatisfied reports whether a dependency of n has a suitable version in the tree.
func (r *resolver) isSatisfied(n *node, e edge) bool {
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

// missingError returns the error for a dependency that does not exist in the registry.
func (r *resolver) missingError(n *node, e edge) error {
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

// dependency returns the dependency of the project that caused the installation of n.
func (r *resolver) dependency(n *node) *node {
	for n.source != r.root {
		n = n.source
	}
	return n
}
