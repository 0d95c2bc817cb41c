package stack

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// object is a value of the template, usually a mapping. A struct of properties embeds it to report problems. The tags
// "ignored" of a struct, at object or at blank fields, list properties that have no effect here.
type object struct {
	e    *evaluator
	at   place
	n    *node // nil if the value is absent
	line int   // of the value or, if it is absent, of the object that would contain it
}

// keep lets decode set an embedded object.
func (o *object) keep(decoded object) { *o = decoded }

// keepIn sets the object that a struct embeds, if it embeds one.
func (o object) keepIn(v reflect.Value) {
	if holder, ok := v.Addr().Interface().(interface{ keep(decoded object) }); ok {
		holder.keep(o)
	}
}

// lineOf returns the line of a property or, if it is absent, of its object. For a path, it uses the first element.
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

// property returns the value of a property.
func (o object) property(name string) object {
	p := object{e: o.e, at: o.at.field(name), line: o.lineOf(name)}
	if f := o.n.find(name); f != nil {
		if p.n = o.e.resolve(p.at, f.value); p.n != nil && p.n.kind == null {
			p.n = nil
		}
	}
	return p
}

// resolve resolves a value until its kind is known. The elements of mappings and lists are resolved when they are
// read, because some of them may have no effect here.
func (e *evaluator) resolve(at place, n *node) *node {
	if n.kind == scalar || isCall(n) {
		return e.eval(at, n)
	}
	return n
}

// is reports whether the value has a kind. If not, it adds the problem.
func (o object) is(k kind, problem string) bool {
	if o.n.kind != k && o.n.kind != invalid {
		o.e.add(o.at, o.line, "%s", problem)
	}
	return o.n.kind == k
}

// property is a field of a struct of properties, with its tag:
//
//	`cfn:"Name,required,default=…,min=…,max=…,oneof=a|b"`
//
// The name is the name of the field unless the tag has one.
type property struct {
	name     string
	index    int // of the field
	required bool
	fallback *string
	min, max int
	oneOf    []string
}

// propertiesOf returns the properties of a struct type, and the names in its tags "ignored".
func propertiesOf(t reflect.Type) (all []property, ignored []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		ignored = append(ignored, strings.Fields(f.Tag.Get("ignored"))...)
		if f.Name != "_" && f.Type != reflect.TypeFor[object]() {
			all = append(all, propertyOf(i, f))
		}
	}
	return all, ignored
}

func propertyOf(index int, f reflect.StructField) property {
	p := property{name: f.Name, index: index}
	name, options, _ := strings.Cut(f.Tag.Get("cfn"), ",")
	if name != "" {
		p.name = name
	}
	for option := range strings.SplitSeq(options, ",") {
		switch key, value, _ := strings.Cut(option, "="); key {
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
	return p
}

// decode reads a mapping into the struct that into points to.
func (e *evaluator) decode(at place, line int, n *node, into any) {
	o, v := object{e, at, n, line}, reflect.ValueOf(into).Elem()
	if n == nil || n.kind == null {
		o.n = nil
		o.decodeStruct(v)
		return
	}
	o.decode(property{}, v)
}

// decode reads the value into a field of a struct, or into an element of a list. p is the property.
func (o object) decode(p property, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[*node]():
		v.Set(reflect.ValueOf(o.n))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		o.decode(p, v.Elem())
	case v.Kind() == reflect.Struct:
		if o.is(mapping, "must be a mapping") {
			o.decodeStruct(v)
		} else {
			o.n = nil
			o.keepIn(v)
		}
	case v.Kind() == reflect.Map:
		if o.is(mapping, "must be a mapping") {
			v.Set(reflect.ValueOf(o.texts()))
		}
	case v.Kind() == reflect.Slice:
		if o.is(list, "must be a list") {
			o.decodeList(p, v)
		}
	case o.is(scalar, "must be a string"):
		o.decodeText(p, v, o.n.text)
	}
}

func (o object) decodeStruct(v reflect.Value) {
	if o.n != nil {
		o.line = o.n.line
	}
	o.checkKeys(v.Type())
	o.keepIn(v)
	properties, _ := propertiesOf(v.Type())
	for _, p := range properties {
		field, value := v.Field(p.index), o.property(p.name)
		switch {
		case value.n != nil:
			value.decode(p, field)
		case p.required:
			o.problem(p.name, "is missing")
		case p.fallback != nil:
			value.decodeText(p, field, *p.fallback)
		case field.Kind() == reflect.Struct: // its properties may have defaults
			value.decodeStruct(field)
		}
	}
}

// checkKeys reports the properties that a struct does not have and does not ignore. It skips properties that resolve to
// AWS::NoValue.
func (o object) checkKeys(t reflect.Type) {
	if o.n == nil {
		return
	}
	properties, ignored := propertiesOf(t)
	for _, f := range o.n.fields {
		switch {
		case slices.ContainsFunc(properties, func(p property) bool { return p.name == f.key }):
		case slices.Contains(ignored, f.key):
		case o.e.try(f.value) != nil:
			o.problem(f.key, unsupported)
		}
	}
}

func (o object) decodeList(p property, v reflect.Value) {
	if p.required && len(o.n.items) == 0 {
		o.e.add(o.at, o.line, "must have at least one element")
	}
	for i, item := range o.n.items {
		at, element := o.at.index(i), reflect.New(v.Type().Elem()).Elem()
		if item = o.e.resolve(at, item); item != nil {
			object{o.e, at, item, item.line}.decode(property{oneOf: p.oneOf}, element)
			v.Set(reflect.Append(v, element))
		}
	}
}

// decodeText sets a field of a scalar type, and checks the text against the property's tag.
func (o object) decodeText(p property, v reflect.Value, text string) {
	problem := func(format string, args ...any) { o.e.add(o.at, o.line, format, args...) }
	switch v.Interface().(type) {
	case string:
		v.SetString(text)
		if p.required && text == "" {
			problem("must not be empty")
		} else if p.oneOf != nil && !slices.Contains(p.oneOf, text) {
			last := len(p.oneOf) - 1
			allowed := strings.TrimPrefix(strings.Join(p.oneOf[:last], ", ")+" or "+p.oneOf[last], " or ")
			problem("%q is %s: use %s", text, unsupported, allowed)
		}
	case int, time.Duration:
		number, err := strconv.Atoi(text)
		if err != nil || number < p.min || number > p.max {
			problem("%q must be a whole number between %d and %d", text, p.min, p.max)
		}
		if v.Type() == reflect.TypeFor[time.Duration]() {
			number *= int(time.Second)
		}
		v.SetInt(int64(number))
	case bool:
		v.SetBool(text == "true")
		if text != "true" && text != "false" {
			problem("%q must be true or false", text)
		}
	default:
		panic(fmt.Sprintf("stack: no decoder for %s", v.Type()))
	}
}

// texts returns the strings of a mapping with free keys.
func (o object) texts() map[string]string {
	texts := make(map[string]string, len(o.n.fields))
	for _, f := range o.n.fields {
		value := o.property(f.key)
		if value.n != nil && value.is(scalar, "must be a string") {
			texts[f.key] = value.n.text
		}
	}
	return texts
}
