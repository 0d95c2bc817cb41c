package stack

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// object is a mapping of the template. A struct of properties embeds it to report problems. The tags "ignored" of a
// struct, at object or at blank fields, list properties that have no effect here. For those in the tags "noted" there
// is a notice.
type object struct {
	e    *evaluator
	at   place
	n    *node // nil if the mapping is absent
	line int   // of the mapping, or of what contains it
}

// keep lets decode set an embedded object.
func (o *object) keep(decoded object) { *o = decoded }

// lineOf returns the line of a property or, if it is absent, of its object. Of a path it takes the first element.
func (o object) lineOf(name string) int {
	name, _, _ = strings.Cut(name, ".")
	if f := o.n.find(name); f != nil {
		return f.line
	}
	return o.line
}

func (o object) problem(name, format string, args ...any) {
	o.e.add(o.at.field(name), o.lineOf(name), format, args...)
}

// reduced returns a property, resolved until its kind is known; nil if it is absent under the template's conditions. ok
// is false if it has reported a problem.
func (o object) reduced(name string) (reduced *node, ok bool) {
	n := o.n.get(name)
	if n == nil {
		return nil, true
	}
	if reduced, ok = o.e.reduce(o.at.field(name), n); reduced != nil && reduced.kind == null {
		return nil, ok
	}
	return reduced, ok
}

// has reports whether a property is present under the template's conditions.
func (o object) has(name string) bool {
	n, _ := o.reduced(name)
	return n != nil
}

// property is a field of a struct of properties, with its tag:
//
//	`cfn:"Name,required,default=…,min=…,max=…,oneof=a|b"`
//
// The name is that of the field unless the tag has one.
type property struct {
	name     string
	index    []int
	required bool
	fallback *string
	min, max int
	oneOf    []string
}

func propertiesOf(t reflect.Type) (all []property, ignored, noted []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		ignored = append(ignored, strings.Fields(f.Tag.Get("ignored"))...)
		noted = append(noted, strings.Fields(f.Tag.Get("noted"))...)
		if f.Name == "_" || f.Type == reflect.TypeFor[object]() {
			continue
		}
		if f.Anonymous { // properties that several structs share
			shared, _, _ := propertiesOf(f.Type)
			for _, p := range shared {
				p.index = append([]int{i}, p.index...)
				all = append(all, p)
			}
			continue
		}
		parts := strings.Split(f.Tag.Get("cfn"), ",")
		p := property{name: f.Name, index: []int{i}}
		if parts[0] != "" {
			p.name = parts[0]
		}
		for _, part := range parts[1:] {
			switch key, value, _ := strings.Cut(part, "="); key {
			case "required":
				p.required = true
			case "default":
				p.fallback = &value
			case "min":
				p.min, _ = strconv.Atoi(value)
			case "max":
				p.max, _ = strconv.Atoi(value)
			case "oneof":
				p.oneOf = strings.Split(value, "|")
			}
		}
		all = append(all, p)
	}
	return all, ignored, noted
}

// mapping reduces a value that must be a mapping.
func (e *evaluator) mapping(at place, line int, n *node) object {
	o := object{e: e, at: at, line: line}
	if n == nil {
		return o
	}
	reduced, ok := e.reduce(at, n)
	switch {
	case !ok || reduced == nil || reduced.kind == null:
	case reduced.kind != mapping:
		e.add(at, reduced.line, "must be a mapping")
	default:
		o.n, o.line = reduced, reduced.line
	}
	return o
}

// decode reads a mapping into the struct that into points to.
func (e *evaluator) decode(at place, line int, n *node, into any) {
	e.mapping(at, line, n).decode(reflect.ValueOf(into).Elem())
}

func (o object) decode(v reflect.Value) {
	o.checkKeys(v.Interface())
	if holder, ok := v.Addr().Interface().(interface{ keep(decoded object) }); ok {
		holder.keep(o)
	}
	properties, _, _ := propertiesOf(v.Type())
	for _, p := range properties {
		o.decodeProperty(p, v.FieldByIndex(p.index))
	}
}

// checkKeys reports properties that a struct does not have, unless they resolve to AWS::NoValue.
func (o object) checkKeys(of any) {
	if o.n == nil || of == nil {
		return
	}
	properties, ignored, noted := propertiesOf(reflect.TypeOf(of))
	for _, f := range o.n.fields {
		switch {
		case slices.ContainsFunc(properties, func(p property) bool { return p.name == f.key }):
		case slices.Contains(ignored, f.key):
		case slices.Contains(noted, f.key):
			o.e.noted[f.key] = true
		default:
			if value, ok := o.e.reduce(o.at.field(f.key), f.value); !ok || value != nil {
				o.problem(f.key, unsupported)
			}
		}
	}
}

func (o object) decodeProperty(p property, v reflect.Value) {
	if v.Type() == reflect.TypeFor[*node]() { // unresolved
		if f := o.n.find(p.name); f != nil {
			v.Set(reflect.ValueOf(f.value))
		} else if p.required {
			o.problem(p.name, "is missing")
		}
		return
	}
	n, ok := o.reduced(p.name)
	if n == nil && v.Kind() != reflect.Struct {
		if p.required && ok {
			o.problem(p.name, "is missing")
		}
		if p.fallback != nil {
			o.setText(p, v, *p.fallback)
		}
		return
	}
	at := o.at.field(p.name)
	switch {
	case v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct:
		if inner := o.e.mapping(at, o.lineOf(p.name), n); inner.n != nil {
			v.Set(reflect.New(v.Type().Elem()))
			inner.decode(v.Elem())
		}
	case v.Type() == reflect.TypeFor[map[string]string]():
		v.Set(reflect.ValueOf(o.e.mapping(at, o.lineOf(p.name), n).texts()))
	case v.Kind() == reflect.Slice:
		o.setList(p, v, n)
	case v.Kind() == reflect.Struct:
		o.e.mapping(at, o.lineOf(p.name), n).decode(v)
	default:
		if v.Kind() == reflect.Pointer {
			v.Set(reflect.New(v.Type().Elem()))
			v = v.Elem()
		}
		if text, ok := o.e.evalText(at, n); ok {
			o.setText(p, v, text)
		}
	}
}

func (o object) setList(p property, v reflect.Value, n *node) {
	if n.kind != list {
		o.problem(p.name, "must be a list")
		return
	}
	if p.required && len(n.items) == 0 {
		o.problem(p.name, "must have at least one element")
	}
	for i, item := range n.items {
		at := o.at.field(p.name).index(i)
		element := reflect.New(v.Type().Elem()).Elem()
		if element.Kind() == reflect.Struct {
			if reduced, ok := o.e.reduce(at, item); ok && reduced == nil {
				continue // AWS::NoValue
			}
			o.e.mapping(at, item.line, item).decode(element)
		} else if value, ok := o.e.eval(at, item); ok && value != nil {
			if value.kind != scalar {
				o.e.add(at, item.line, "must be a string")
				continue
			}
			element.SetString(value.text)
		} else {
			continue
		}
		v.Set(reflect.Append(v, element))
	}
}

// setText sets a field of a scalar type, and checks the text against the property's tag.
func (o object) setText(p property, v reflect.Value, text string) {
	switch v.Interface().(type) {
	case string:
		if v.SetString(text); p.required && text == "" {
			o.problem(p.name, "must not be empty")
		} else if p.oneOf != nil && !slices.Contains(p.oneOf, text) {
			last := len(p.oneOf) - 1
			allowed := strings.TrimPrefix(strings.Join(p.oneOf[:last], ", ")+" or "+p.oneOf[last], " or ")
			o.problem(p.name, "%q is %s: use %s", text, unsupported, allowed)
		}
	case int:
		v.SetInt(int64(o.number(p, text)))
	case time.Duration:
		v.SetInt(int64(time.Duration(o.number(p, text)) * time.Second))
	case bool:
		if v.SetBool(text == "true"); text != "true" && text != "false" {
			o.problem(p.name, "%q must be true or false", text)
		}
	case float64:
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			o.problem(p.name, "must be a number")
		}
		v.SetFloat(number)
	default:
		panic(fmt.Sprintf("stack: no decoder for %s", v.Type()))
	}
}

func (o object) number(p property, text string) int {
	number, err := strconv.Atoi(text)
	if err != nil || number < p.min || number > p.max {
		o.problem(p.name, "%q must be a whole number between %d and %d", text, p.min, p.max)
	}
	return number
}

// texts returns the strings of a mapping with free keys.
func (o object) texts() map[string]string {
	if o.n == nil {
		return nil
	}
	texts := make(map[string]string, len(o.n.fields))
	for _, f := range o.n.fields {
		value, ok := o.e.eval(o.at.field(f.key), f.value)
		switch {
		case !ok || value == nil || value.kind == null:
		case value.kind != scalar:
			o.problem(f.key, "must be a string")
		default:
			texts[f.key] = value.text
		}
	}
	return texts
}
