package stack

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
)

const transform = "AWS::Serverless-2016-10-31"

var (
	sections = []string{
		"AWSTemplateFormatVersion", "Description", "Metadata", "Transform", "Parameters", sectionRules,
		sectionConditions, "Globals", "Resources", "Outputs",
	}
	// resourceAttributes are the fields of a resource. Most of them have no effect here.
	resourceAttributes = []string{
		"Type", "Properties", "Metadata", "Condition", "DependsOn", "DeletionPolicy", "UpdateReplacePolicy", "CreationPolicy",
		"UpdatePolicy",
	}
	logicalID = regexp.MustCompile(`^[A-Za-z0-9]{1,255}$`)
)

const logicalIDRule = "a logical id has 1 to 255 letters and digits"

// loadSections loads the sections in the order of their dependencies.
func (e *evaluator) loadSections() {
	for _, f := range e.root.fields {
		if !slices.Contains(sections, f.key) {
			e.add(place{subject: f.key}, f.line, "this section is "+unsupported)
		}
	}
	e.loadParameters()
	e.loadConditions()
	e.loadGlobals()
	e.loadResources()
	if len(e.resources) == 0 && len(e.found) == 0 {
		e.add(place{subject: "Resources"}, e.root.line, "is missing or empty")
	}
}

// section returns the entries of a section.
func (e *evaluator) section(name string) []field {
	n := e.root.get(name)
	if n == nil || n.kind == null {
		return nil
	}
	if n.kind != mapping {
		e.add(place{subject: name}, n.line, "must be a mapping")
	}
	return n.fields
}

func (e *evaluator) loadResources() {
	serverless := e.hasTransform()
	for _, f := range e.section("Resources") {
		at := place{subject: f.key}
		typ := f.value.get("Type")
		switch {
		case !logicalID.MatchString(f.key):
			e.add(at, f.line, logicalIDRule)
			continue
		case typ == nil || typ.kind != scalar:
			e.add(at.field("Type"), f.line, "is missing")
			continue
		case !serverless && strings.HasPrefix(typ.text, "AWS::Serverless::"):
			e.add(at.field("Type"), typ.line, "%s needs Transform: %s", typ.text, transform)
		}
		for _, attribute := range f.value.fields {
			if !slices.Contains(resourceAttributes, attribute.key) {
				e.add(at.field(attribute.key), attribute.line, unsupported)
			}
		}
		loaded := &resource{
			id: f.key, line: f.line, typ: typ.text, condition: f.value.get("Condition"),
			properties: f.value.get("Properties"),
		}
		if typ.text == typeFunction {
			loaded.properties = mergeGlobals(e.globals, loaded.properties)
		}
		if loaded.properties != nil && loaded.properties.kind != mapping {
			e.add(at.field("Properties"), loaded.properties.line, "must be a mapping")
			continue
		}
		e.resources = append(e.resources, loaded)
		e.byID[f.key] = loaded
	}
}

// hasTransform reports whether the template uses SAM's transform. Other macros can't run here.
func (e *evaluator) hasTransform() (found bool) {
	n := e.root.get("Transform")
	if n == nil {
		return false
	}
	names := n.items
	if n.kind != list {
		names = []*node{n}
	}
	for _, name := range names {
		if name.kind == scalar && name.text == transform {
			found = true
		} else {
			e.add(place{subject: "Transform"}, name.line, "only %s is supported by the local platform", transform)
		}
	}
	return found
}

func (e *evaluator) loadGlobals() {
	for _, f := range e.section("Globals") {
		at := place{subject: "Globals", path: f.key}
		switch {
		case f.key != "Function":
			e.add(at, f.line, unsupported)
		case f.value.kind != mapping:
			e.add(at, f.line, "must be a mapping")
		default:
			object{e, at, f.value, f.line}.checkKeys(reflect.TypeFor[functionProperties]())
			e.globals = f.value
		}
	}
}

// mergeGlobals merges as SAM does: mappings are merged, lists are concatenated, and other values of the resource
// replace the global ones.
func mergeGlobals(global, own *node) *node {
	switch {
	case own == nil:
		return global
	case global == nil || own.kind != global.kind || isCall(own) || isCall(global):
		return own
	case own.kind == list:
		return &node{kind: list, line: own.line, items: slices.Concat(global.items, own.items)}
	case own.kind != mapping:
		return own
	}
	merged := &node{kind: mapping, line: own.line}
	for _, f := range global.fields {
		if replacement := own.find(f.key); replacement != nil {
			f = field{f.key, replacement.line, mergeGlobals(f.value, replacement.value)}
		}
		merged.fields = append(merged.fields, f)
	}
	for _, f := range own.fields {
		if global.find(f.key) == nil {
			merged.fields = append(merged.fields, f)
		}
	}
	return merged
}

func isCall(n *node) bool {
	_, _, ok := n.intrinsic()
	return ok
}
