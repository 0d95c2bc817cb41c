package npm

import (
	"cmp"
	"slices"
	"strings"
)

// node is a package in the tree of node_modules folders. The root is the project.
type node struct {
	release  *release
	name     string // in node_modules, which is not the name in the registry if the dependency is an alias
	parent   *node
	children map[string]*node
	edges    []edge
	// source is the package that caused the installation of this package. If source also depends on a peer of this
	// package, its version of the peer is preferred.
	source *node
	// ignored are the names of dependencies that cannot be satisfied: optional ones that do not exist, and peers that
	// conflict with other packages. npm would report some conflicts as errors; like npm install --force, this package
	// uses the version that is there, because a second copy of a peer such as React breaks an application.
	ignored   map[string]bool
	isRemoved bool
	rules     *override // the rules for the dependencies
	isBundled bool      // whether the package is in the tarball of another package
	isValid   bool      // whether the package of a lock file can be installed
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

// find returns the package that Node.js would load for a name in n, or nil.
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

// isWithin reports whether n is ancestor or below it.
func (n *node) isWithin(ancestor *node) bool {
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

// neededPackages returns the packages that the project at root needs. It calls visit for each dependency of the project
// and of these packages, with the package that it finds, or nil. If visit returns false, the dependency is not
// followed. Errors: *failure.Error if there are too many packages.
func (n *node) neededPackages(visit func(from *node, e edge, to *node) bool) (packages []selectedPackage, err error) {
	origins := map[*node]string{n: ""} // the dependency of the project that needs each package
	for queue := []*node{n}; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for _, e := range from.edges {
			if e.kind == development {
				continue
			}
			to := from.find(e.name)
			if _, known := origins[to]; !visit(from, e, to) || to == nil || known {
				continue
			}
			origins[to] = cmp.Or(origins[from], e.name)
			queue = append(queue, to)
			if !to.isBundled {
				packages = append(packages, selectedPackage{
					location: to.location, name: to.release.name, version: to.release.Version,
					integrity: to.release.Dist.Integrity, tarball: to.release.Dist.Tarball, origin: origins[to],
				})
			}
			if len(packages) > maxPackages || len(origins) > maxNodes {
				return nil, tooManyError(packages)
			}
		}
	}
	slices.SortFunc(packages, func(a, b selectedPackage) int { return strings.Compare(a.location, b.location) })
	return packages, nil
}
