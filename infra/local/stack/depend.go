package stack

import (
	"slices"
	"strings"
)

// besideFunction are the properties of a SAM function that end up in resources of their own (roles, aliases, mappings,
// rules): the function itself doesn't wait for what they refer to.
var besideFunction = map[string]bool{
	"Events": true, "Policies": true, "DeploymentPreference": true, "AutoPublishAlias": true, "ProvisionedConcurrencyConfig": true,
}

// checkDependencies refuses resources that wait for each other, as CloudFormation does before it makes anything: two queues
// whose redrive policies refer to each other can't be made, on AWS.
func (r *resolver) checkDependencies() {
	r.muted++
	waits := map[string][]string{}
	for _, res := range r.resources {
		if r.active(res) {
			waits[res.id] = r.dependencies(res)
		}
	}
	r.muted--
	done := map[string]bool{}
	for _, res := range r.resources {
		if circle := circleFrom(res.id, waits, done, nil); circle != nil {
			first := r.byID[circle[0]]
			r.add(first.at(), first.line, "Circular dependency between resources: [%s]", strings.Join(circle, ", "))
		}
	}
}

// circleFrom goes on from the end of a path and gives the first circle that it finds. Resources that lead to none are done.
func circleFrom(id string, waits map[string][]string, done map[string]bool, path []string) []string {
	if start := slices.Index(path, id); start >= 0 {
		for _, in := range path[start:] {
			done[in] = true
		}
		return path[start:]
	}
	if done[id] {
		return nil
	}
	path = append(slices.Clip(path), id)
	for _, next := range waits[id] {
		if circle := circleFrom(next, waits, done, path); circle != nil {
			return circle
		}
	}
	done[id] = true
	return nil
}

// dependencies are the resources that must be there before one can be made, sorted. What SAM makes of an API is left out:
// its definition is put together of the functions' events.
func (r *resolver) dependencies(res *resource) []string {
	found := map[string]bool{}
	if res.typ != typeAPI && res.properties != nil {
		for _, f := range res.properties.fields {
			if res.typ != typeFunction || !besideFunction[f.key] {
				r.referred(f.value, found)
			}
		}
	}
	if res.dependsOn != nil {
		names := res.dependsOn.items
		if res.dependsOn.kind == scalar {
			names = []*node{res.dependsOn}
		}
		for _, name := range names {
			found[name.text] = true
		}
	}
	ids := make([]string, 0, len(found))
	for id := range found {
		if other := r.byID[id]; other != nil && r.active(other) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// referred collects the names that a value refers to. Of Fn::If it follows the branch that is taken.
func (r *resolver) referred(n *node, found map[string]bool) {
	name, arg, isCall := n.intrinsic()
	switch {
	case n == nil:
	case !isCall:
		for _, item := range n.items {
			r.referred(item, found)
		}
		for _, f := range n.fields {
			r.referred(f.value, found)
		}
	case name == "Fn::If":
		if taken, ok := r.branch(place{}, arg); ok {
			r.referred(taken, found)
		}
	case name == "Ref":
		found[arg.text] = true
	case name == "Fn::GetAtt":
		if arg.kind == list && len(arg.items) > 0 {
			arg = arg.items[0]
		}
		id, _, _ := strings.Cut(arg.text, ".")
		found[id] = true
	case name == "Fn::Sub":
		text, names, ok := r.subArgs(place{}, arg)
		if !ok {
			return
		}
		r.referred(names, found)
		for _, piece := range substitutions(text.text) {
			if id, _, _ := strings.Cut(piece.name, "."); names.get(piece.name) == nil {
				found[id] = true
			}
		}
	default:
		r.referred(arg, found)
	}
}
