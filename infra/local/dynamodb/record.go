package dynamodb

import (
	"slices"

	"devplatform/infra/local/dynamodb/values"
)

// Limits of tables.
const (
	maxIndexes        = 20
	maxNonKeyPerIndex = 20
	maxNonKeyPerTable = 100
)

type tableRecord struct {
	ID           uint32 // its number in the key space
	Name         string
	Created      float64 // seconds since 1970
	Attributes   []attributeDefinition
	Keys         []keySchemaElement
	Throughput   throughput // zero if on demand
	OnDemand     bool
	Indexes      []indexRecord
	TTLAttribute string
	StreamView   string `json:",omitzero"` // empty if it has no stream
	StreamLabel  string `json:",omitzero"` // of its latest stream
}

type indexRecord struct {
	ID         uint32 // its number in the key space
	Name       string
	Keys       []keySchemaElement
	Projection indexProjection
	Throughput throughput
}

func (r *tableRecord) newIndexRecord(id uint32, spec *indexSpec) (indexRecord, error) {
	x := indexRecord{ID: id, Name: spec.IndexName, Keys: spec.KeySchema, Projection: spec.Projection}
	if r.OnDemand != (spec.ProvisionedThroughput == nil) {
		return x, invalid("Index %s must have a ProvisionedThroughput if BillingMode is PROVISIONED, "+
			"and none otherwise", x.Name)
	}
	if spec.ProvisionedThroughput != nil {
		x.Throughput = *spec.ProvisionedThroughput
	}
	return x, spec.ProvisionedThroughput.check()
}

// apply changes the settings that CreateTable and UpdateTable share, except the stream.
func (r *tableRecord) apply(in *tableSettings) error {
	onDemand := in.BillingMode == "PAY_PER_REQUEST" || in.BillingMode == "" && r.OnDemand
	switch {
	case onDemand && in.ProvisionedThroughput != nil:
		return invalid("ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST")
	case !onDemand && r.Throughput == throughput{} && in.ProvisionedThroughput == nil:
		return invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
	case onDemand:
		r.Throughput = throughput{}
	}
	r.OnDemand = onDemand
	if in.ProvisionedThroughput != nil {
		r.Throughput = *in.ProvisionedThroughput
	}
	return nil
}

func (r *tableRecord) define(definitions []attributeDefinition) error {
	r.Attributes = slices.Clone(r.Attributes)
	for _, definition := range definitions {
		at := slices.IndexFunc(r.Attributes, func(a attributeDefinition) bool {
			return a.AttributeName == definition.AttributeName
		})
		switch {
		case at < 0:
			r.Attributes = append(r.Attributes, definition)
		case r.Attributes[at] != definition:
			return invalid("Attribute %s is already defined with type %s",
				definition.AttributeName, r.Attributes[at].AttributeType)
		}
	}
	return nil
}

func (r *tableRecord) index(name string) int {
	return slices.IndexFunc(r.Indexes, func(x indexRecord) bool { return x.Name == name })
}

// removeIndex removes an index, and the definitions of attributes that no key uses then.
func (r *tableRecord) removeIndex(at int) {
	r.Indexes = slices.Delete(slices.Clone(r.Indexes), at, at+1)
	used := r.keyAttributes()
	r.Attributes = slices.DeleteFunc(slices.Clone(r.Attributes), func(a attributeDefinition) bool {
		return !used[a.AttributeName]
	})
}

func (r *tableRecord) kinds() map[string]values.Kind {
	kinds := map[string]values.Kind{}
	for _, a := range r.Attributes {
		kinds[a.AttributeName], _ = values.ParseKind(a.AttributeType)
	}
	return kinds
}

func (r *tableRecord) keyAttributes() map[string]bool {
	used := map[string]bool{}
	for _, key := range r.Keys {
		used[key.AttributeName] = true
	}
	for _, x := range r.Indexes {
		for _, key := range x.Keys {
			used[key.AttributeName] = true
		}
	}
	return used
}

func (r *tableRecord) check() error {
	kinds := r.kinds()
	for name, kind := range kinds {
		if name == "" || len(name) > maxNameBytes || !kind.IsKey() {
			return invalid("AttributeDefinitions must have a name of up to %d bytes and the type S, N or B", maxNameBytes)
		}
	}
	if err := checkKeys(r.Keys, kinds); err != nil {
		return err
	}
	projected := 0
	names := map[string]bool{}
	for i := range r.Indexes {
		x := &r.Indexes[i]
		if err := x.check(kinds); err != nil {
			return err
		}
		if names[x.Name] {
			return invalid("One or more parameter values were invalid: Duplicate index name: %s", x.Name)
		}
		names[x.Name] = true
		projected += len(x.Projection.NonKeyAttributes)
	}
	switch {
	case len(r.Indexes) > maxIndexes:
		return invalid("GlobalSecondaryIndex count exceeds the per-table limit of %d", maxIndexes)
	case projected > maxNonKeyPerTable:
		return invalid("All indexes together can have up to %d NonKeyAttributes", maxNonKeyPerTable)
	case len(kinds) != len(r.Attributes) || len(r.keyAttributes()) != len(kinds):
		return invalid("AttributeDefinitions must define the attributes of keys, each of them once, and no others")
	}
	return nil
}

func checkKeys(keys []keySchemaElement, kinds map[string]values.Kind) error {
	types := []string{"HASH", "RANGE"}
	if len(keys) == 0 || len(keys) > len(types) {
		return invalid("KeySchema must have one or two elements")
	}
	for i, key := range keys {
		switch {
		case key.KeyType != types[i]:
			return invalid("Invalid KeySchema: The KeyType of element %d must be %s", i+1, types[i])
		case kinds[key.AttributeName] == values.KindInvalid:
			return invalid("Invalid KeySchema: AttributeDefinitions does not define %s", key.AttributeName)
		case i > 0 && key.AttributeName == keys[0].AttributeName:
			return invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
		}
	}
	return nil
}

func (x *indexRecord) check(kinds map[string]values.Kind) error {
	if err := checkIndexName(x.Name); err != nil {
		return err
	}
	if err := checkKeys(x.Keys, kinds); err != nil {
		return err
	}
	others := len(x.Projection.NonKeyAttributes)
	switch x.Projection.ProjectionType {
	case "ALL", "KEYS_ONLY":
		if others == 0 {
			return nil
		}
	case "INCLUDE":
		if 0 < others && others <= maxNonKeyPerIndex {
			return nil
		}
	default:
		return invalid("Unknown ProjectionType: %q", x.Projection.ProjectionType)
	}
	return invalid("ProjectionType INCLUDE must have 1 to %d NonKeyAttributes, and other types must have none",
		maxNonKeyPerIndex)
}
