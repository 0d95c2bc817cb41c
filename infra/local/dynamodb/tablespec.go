package dynamodb

import (
	"fmt"
	"slices"
	"strings"
)

// The shapes in which requests, responses and the catalog describe tables.

type attributeDefinition struct {
	AttributeName string
	AttributeType string
}

type keySchemaElement struct {
	AttributeName string
	KeyType       string
}

func (e keySchemaElement) String() string {
	return "KeySchemaElement(attributeName=" + e.AttributeName + ", keyType=" + e.KeyType + ")"
}

type projection struct {
	ProjectionType   string   `json:",omitzero"`
	NonKeyAttributes []string `json:",omitzero"`
}

type throughput struct {
	ReadCapacityUnits  int64
	WriteCapacityUnits int64
}

type throughputSpec struct {
	ReadCapacityUnits  *int64
	WriteCapacityUnits *int64
}

func (s *throughputSpec) value() throughput {
	if s == nil {
		return throughput{}
	}
	return throughput{*s.ReadCapacityUnits, *s.WriteCapacityUnits}
}

type indexSpec struct {
	IndexName             *string
	KeySchema             []keySchemaElement
	Projection            *projection
	ProvisionedThroughput *throughputSpec
	OnDemandThroughput    refused
	WarmThroughput        refused
}

type sseSpec struct {
	Enabled        bool
	SSEType        string
	KMSMasterKeyID string `json:"KMSMasterKeyId"`
}

type tag struct {
	Key   string
	Value string
}

const (
	maxIndexes        = 20
	maxNonKeyPerIndex = 20
	maxNonKeyPerTable = 100
	maxThroughput     = 1_000_000_000_000
)

// check checks the members of a throughput.
func (s *throughputSpec) check(v *violations, member string) {
	if s == nil {
		return
	}
	v.required(s.WriteCapacityUnits != nil, member+".writeCapacityUnits")
	atLeast(v, s.WriteCapacityUnits, member+".writeCapacityUnits", 1)
	v.required(s.ReadCapacityUnits != nil, member+".readCapacityUnits")
	atLeast(v, s.ReadCapacityUnits, member+".readCapacityUnits", 1)
}

func (s *throughputSpec) checkBounds() error {
	if s == nil {
		return nil
	}
	if *s.ReadCapacityUnits > maxThroughput {
		return invalid("Given value %d for ReadCapacityUnits is out of bounds", *s.ReadCapacityUnits)
	}
	if *s.WriteCapacityUnits > maxThroughput {
		return invalid("Given value %d for WriteCapacityUnits is out of bounds", *s.WriteCapacityUnits)
	}
	return nil
}

func checkAttributes(v *violations, attributes []attributeDefinition) {
	for i, a := range attributes {
		member := fmt.Sprintf("attributeDefinitions.%d.member.", i+1)
		v.required(a.AttributeName != "", member+"attributeName")
		v.required(a.AttributeType != "", member+"attributeType")
		v.enum(a.AttributeType, member+"attributeType", attributeTypes)
		if len(a.AttributeName) > maxNameBytes {
			v.add("'"+a.AttributeName+"'", member+"attributeName", fmt.Sprintf("Member must have length less than or equal to %d", maxNameBytes))
		}
	}
}

func checkKeyElements(v *violations, keys []keySchemaElement, member string) {
	v.required(keys != nil, member)
	if keys != nil {
		v.length(len(keys), func() string { return showKeys(keys) }, member, 2)
	}
	for i, key := range keys {
		element := fmt.Sprintf("%s.%d.member.", member, i+1)
		v.required(key.AttributeName != "", element+"attributeName")
		v.required(key.KeyType != "", element+"keyType")
		v.enum(key.KeyType, element+"keyType", keyTypes)
	}
}

func showKeys(keys []keySchemaElement) string {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.String()
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func (s *indexSpec) check(v *violations, member string) {
	v.name(s.IndexName, member+".indexName", minNameBytes)
	checkKeyElements(v, s.KeySchema, member+".keySchema")
	v.required(s.Projection != nil, member+".projection")
	if s.Projection != nil {
		v.enum(s.Projection.ProjectionType, member+".projection.projectionType", projections)
		if names := s.Projection.NonKeyAttributes; names != nil {
			v.length(len(names), func() string { return "[" + strings.Join(names, ", ") + "]" }, member+".projection.nonKeyAttributes", maxNonKeyPerIndex)
		}
	}
	s.ProvisionedThroughput.check(v, member+".provisionedThroughput")
}

// checkKeySchema checks what the members alone do not say: definitions, order
// and kinds of the keys.
func checkKeySchema(keys []keySchemaElement, attributes []attributeDefinition, ofIndex bool) error {
	for _, key := range keys {
		if slices.ContainsFunc(attributes, func(a attributeDefinition) bool { return a.AttributeName == key.AttributeName }) {
			continue
		}
		if len(keys) == 2 && !ofIndex {
			return invalid("Invalid KeySchema: Some index key attribute have no definition")
		}
		return invalidParameters("Some index key attributes are not defined in AttributeDefinitions. Keys: [%s], AttributeDefinitions: [%s]",
			joinNames(keys, func(k keySchemaElement) string { return k.AttributeName }),
			joinNames(attributes, func(a attributeDefinition) string { return a.AttributeName }))
	}
	if len(keys) == 2 && keys[0].AttributeName == keys[1].AttributeName {
		if len(attributes) == 1 && !ofIndex {
			return invalid("Invalid KeySchema: Some index key attribute have no definition")
		}
		return invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	}
	if keys[0].KeyType != "HASH" {
		return invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	}
	if len(keys) == 2 && keys[1].KeyType != "RANGE" {
		return invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	}
	return nil
}

func joinNames[T any](list []T, name func(T) string) string {
	names := make([]string, len(list))
	for i, element := range list {
		names[i] = name(element)
	}
	return strings.Join(names, ", ")
}

// checkSchema checks one index against its table.
func (s *indexSpec) checkSchema(attributes []attributeDefinition, onDemand bool) error {
	if err := checkKeySchema(s.KeySchema, attributes, true); err != nil {
		return err
	}
	kind := s.Projection.ProjectionType
	if kind == "" {
		return invalidParameters("Unknown ProjectionType: null")
	}
	if s.Projection.NonKeyAttributes != nil && kind != "INCLUDE" {
		return invalidParameters("ProjectionType is %s, but NonKeyAttributes is specified", kind)
	}
	if s.Projection.NonKeyAttributes == nil && kind == "INCLUDE" {
		return invalidParameters("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	}
	if !onDemand && s.ProvisionedThroughput == nil {
		return invalidParameters("ProvisionedThroughput must be specified for index: %s", *s.IndexName)
	}
	if onDemand && s.ProvisionedThroughput != nil {
		return invalidParameters("ProvisionedThroughput should not be specified for index: %s when BillingMode is PAY_PER_REQUEST", *s.IndexName)
	}
	return s.ProvisionedThroughput.checkBounds()
}

// checkAllUsed refuses attribute definitions that no key uses.
func checkAllUsed(attributes []attributeDefinition, keys []keySchemaElement, indexes []indexRecord) error {
	used := map[string]bool{}
	for _, key := range keys {
		used[key.AttributeName] = true
	}
	for _, x := range indexes {
		for _, key := range x.Keys {
			used[key.AttributeName] = true
		}
	}
	if len(used) == len(attributes) {
		return nil
	}
	if len(indexes) == 0 {
		return invalidParameters("Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
	}
	names := make([]string, 0, len(used))
	for name := range used {
		names = append(names, name)
	}
	slices.Sort(names)
	return invalidParameters("Some AttributeDefinitions are not used. AttributeDefinitions: [%s], keys used: [%s]",
		joinNames(attributes, func(a attributeDefinition) string { return a.AttributeName }), strings.Join(names, ", "))
}
