; What defines a name, as queries of tree-sitter: https://tree-sitter.github.io/tree-sitter/using-parsers/queries
; Each pattern captures the name as `@name` and all of the definition as the kind that it has.

(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(annotation_type_element_declaration name: (identifier) @name) @method
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(enum_declaration name: (identifier) @name) @type
(interface_declaration name: (identifier) @name) @interface
(annotation_type_declaration name: (identifier) @name) @interface
(enum_constant name: (identifier) @name) @constant
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @constant
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @field))
