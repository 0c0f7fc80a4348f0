; What defines a name, as queries of tree-sitter: https://tree-sitter.github.io/tree-sitter/using-parsers/queries
; Each pattern captures the name as `@name` and all of the definition as the kind that it has.

(function_signature name: (identifier) @name) @function
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (identifier) @name) @type
(enum_body name: (_) @name @constant)
(enum_assignment name: (_) @name) @constant
(internal_module name: (_) @name) @namespace
(module name: (identifier) @name) @namespace
(abstract_method_signature name: (_) @name) @method
(method_signature name: (_) @name) @method
(public_field_definition name: (_) @name) @field
(interface_body (property_signature name: (_) @name) @field)
(type_alias_declaration (object_type (property_signature name: (_) @name) @field))
(type_alias_declaration (intersection_type (object_type (property_signature name: (_) @name) @field)))
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @field
