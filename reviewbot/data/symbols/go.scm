; What defines a name, as queries of tree-sitter: https://tree-sitter.github.io/tree-sitter/using-parsers/queries
; Each pattern captures the name as `@name` and all of the definition as the kind that it has.

(function_declaration name: (identifier) @name) @function
(method_declaration name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(const_spec name: (identifier) @name) @constant
(var_spec name: (identifier) @name) @constant
(field_declaration name: (field_identifier) @name) @field
(method_elem name: (field_identifier) @name) @method
