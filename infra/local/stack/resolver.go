package stack

import (
	"regexp"
	"strings"
)

// resolver carries what is known while a template is resolved.
type resolver struct {
	*problems
	options Options
	root    *node

	parameters map[string]*node // resolved values
	conditions map[string]*condition
	resources  []*resource
	byID       map[string]*resource
	globals    map[string]*node // by resource type
	intrinsics map[string]intrinsic
	classes    map[string]class
	stack      *Stack
	// routes are collected from the functions' events, then checked together.
	routes []placedRoute
	// mappings are what the stack has of them, to compare new ones with.
	mappings []placedMapping
	// schedules are what the stack has of them, as mappings are.
	schedules []placedSchedule
	// sources is above 0 while an event source is looked up: only there a stream's ARN is known.
	sources int
}

// resource is an entry of Resources, Globals merged in.
type resource struct {
	id         string
	line       int
	typ        string
	properties *node
	metadata   *node
	condition  *node
	dependsOn  *node
	// name is the resource's physical name once it was asked for; naming is true while it is found out.
	name   string
	naming bool
}

func (r *resource) at() place { return place{subject: r.id} }

const transform = "AWS::Serverless-2016-10-31"

// sections are the parts that a template may have.
var sections = map[string]bool{
	"AWSTemplateFormatVersion": true, "Description": true, "Metadata": true, "Transform": true, "Parameters": true, "Rules": true,
	"Mappings": true, "Conditions": true, "Globals": true, "Resources": true, "Outputs": true,
}

func newResolver(file string, root *node, options Options) *resolver {
	return &resolver{
		problems: &problems{file: file}, options: options, root: root,
		parameters: map[string]*node{}, conditions: map[string]*condition{}, byID: map[string]*resource{},
		intrinsics: intrinsics(), classes: classes(),
		stack: &Stack{Name: options.StackName, Region: options.Region, Account: options.Account, Outputs: map[string]string{}},
	}
}

// resolve goes through the sections in the order in which they depend on each other.
func (r *resolver) resolve() *Stack {
	for _, f := range r.root.fields {
		if !sections[f.key] {
			r.add(place{subject: f.key}, f.line, "this section is "+unsupported)
		}
	}
	r.loadParameters()
	r.loadConditions()
	r.loadResources()
	if len(r.resources) == 0 && len(r.list) == 0 {
		r.add(place{subject: "Resources"}, r.root.line, "is missing or empty")
	}
	r.checkReferences()
	r.checkRules()
	r.build()
	r.checkDependencies()
	r.loadOutputs()
	return r.stack
}

// section gives a section's entries; one that is no mapping is a problem.
func (r *resolver) section(name string) []field {
	n := r.root.get(name)
	if n == nil || n.kind == null {
		return nil
	}
	if n.kind != mapping {
		r.add(place{subject: name}, n.line, "must be a mapping")
		return nil
	}
	return n.fields
}

// resourceAttributes are what may stand beside Type and Properties; those without effect here need no further look.
var resourceAttributes = map[string]bool{
	"Type": true, "Properties": true, "Metadata": true, "Condition": true, "DependsOn": true,
	"DeletionPolicy": true, "UpdateReplacePolicy": true, "CreationPolicy": true, "UpdatePolicy": true,
}

var logicalID = regexp.MustCompile(`^[A-Za-z0-9]{1,255}$`)

func (r *resolver) loadResources() {
	r.loadGlobals()
	serverless := r.loadTransform()
	for _, f := range r.section("Resources") {
		at := place{subject: f.key}
		if !logicalID.MatchString(f.key) {
			r.add(at, f.line, "a logical id has letters and digits only, 255 at most")
			continue
		}
		typ := f.value.get("Type")
		if typ == nil || typ.kind != scalar {
			r.add(at.field("Type"), f.line, "is missing")
			continue
		}
		for _, attribute := range f.value.fields {
			if !resourceAttributes[attribute.key] {
				r.add(at.field(attribute.key), attribute.line, unsupported)
			}
		}
		if !serverless && strings.HasPrefix(typ.text, "AWS::Serverless::") {
			r.add(at.field("Type"), typ.line, "%s needs Transform: %s", typ.text, transform)
		}
		loaded := &resource{
			id: f.key, line: f.line, typ: typ.text, metadata: f.value.get("Metadata"), condition: f.value.get("Condition"),
			dependsOn:  f.value.get("DependsOn"),
			properties: mergeGlobals(r.globals[typ.text], f.value.get("Properties")),
		}
		if loaded.properties != nil && loaded.properties.kind != mapping {
			r.add(at.field("Properties"), loaded.properties.line, "must be a mapping")
			continue
		}
		r.resources = append(r.resources, loaded)
		r.byID[f.key] = loaded
	}
}

// loadTransform tells whether SAM's transform is asked for. Macros of other kinds can't be run here.
func (r *resolver) loadTransform() bool {
	n := r.root.get("Transform")
	if n == nil {
		return false
	}
	names := []*node{n}
	if n.kind == list {
		names = n.items
	}
	found := false
	for _, name := range names {
		if name.kind == scalar && name.text == transform {
			found = true
			continue
		}
		r.add(place{subject: "Transform"}, name.line, "only %s is supported by the local platform", transform)
	}
	return found
}

// active tells whether a resource exists under the template's conditions.
func (r *resolver) active(res *resource) bool {
	if res.condition == nil {
		return true
	}
	if res.condition.kind != scalar {
		r.add(res.at().field("Condition"), res.condition.line, "must be the name of a condition")
		return false
	}
	holds, _ := r.holds(res.at().field("Condition"), res.condition)
	return holds
}

// loadOutputs resolves what can be known; a value that AWS alone knows is left out.
func (r *resolver) loadOutputs() {
	for _, f := range r.section("Outputs") {
		at := place{subject: "Outputs", path: f.key}
		if c := f.value.get("Condition"); c != nil {
			if holds, ok := r.holds(at.field("Condition"), c); !ok || !holds {
				continue
			}
		}
		value := f.value.get("Value")
		if value == nil {
			r.add(at.field("Value"), f.line, "is missing")
			continue
		}
		r.muted++
		resolved, ok := r.eval(at.field("Value"), value)
		r.muted--
		if ok && resolved != nil && resolved.kind == scalar {
			r.stack.Outputs[f.key] = resolved.text
		}
	}
}
