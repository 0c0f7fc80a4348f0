"""What defines a name, as queries of tree-sitter: https://tree-sitter.github.io/tree-sitter/using-parsers/queries.

Each pattern captures the name as `@name` and all of the definition as the kind that it has.
"""

from __future__ import annotations

PYTHON = """
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(type_alias_statement left: (type (identifier) @name)) @type
(type_alias_statement left: (type (generic_type . (identifier) @name))) @type
(assignment left: (identifier) @name) @constant
(assignment left: (pattern_list (identifier) @name)) @constant
(assignment left: (tuple_pattern (identifier) @name)) @constant
(assignment left: (attribute object: (identifier) @object attribute: (identifier) @name)) @field
"""

_SCRIPT = """
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(class name: (_) @name) @class
(method_definition name: (_) @name) @method
(lexical_declaration (variable_declarator name: (identifier) @name)) @constant
(variable_declaration (variable_declarator name: (identifier) @name)) @constant
(lexical_declaration
  (variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name))) @constant
(lexical_declaration
  (variable_declarator name: (object_pattern (pair_pattern value: (identifier) @name)))) @constant
(lexical_declaration (variable_declarator name: (array_pattern (identifier) @name))) @constant
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function) (class)]) @function
(assignment_expression left: (member_expression property: (_) @name)
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @function
(assignment_expression left: (identifier) @name
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @method
(pair key: (string (string_fragment) @name)
  value: [(arrow_function) (function_expression) (generator_function)]) @method
"""

JAVASCRIPT = (
    _SCRIPT
    + """
(field_definition property: (_) @name) @field
"""
)

TYPESCRIPT = (
    _SCRIPT
    + """
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
"""
)

GO = """
(function_declaration name: (identifier) @name) @function
(method_declaration name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(const_spec name: (identifier) @name) @constant
(var_spec name: (identifier) @name) @constant
(field_declaration name: (field_identifier) @name) @field
(method_elem name: (field_identifier) @name) @method
"""
