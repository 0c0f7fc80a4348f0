; What defines a name, as queries of tree-sitter: https://tree-sitter.github.io/tree-sitter/using-parsers/queries
; Each pattern captures the name as `@name` and all of the definition as the kind that it has.

(method name: (_) @name) @function
(singleton_method name: (_) @name) @function
(class name: (constant) @name) @class
(class name: (scope_resolution name: (constant) @name)) @class
(module name: (constant) @name) @namespace
(module name: (scope_resolution name: (constant) @name)) @namespace
(assignment left: (constant) @name) @constant
(assignment left: (scope_resolution name: (constant) @name)) @constant
(assignment left: (left_assignment_list (constant) @name)) @constant
(alias name: (_) @name) @method
(call method: (identifier) @_call arguments: (argument_list (simple_symbol) @name)
  (#any-of? @_call "attr_accessor" "attr_reader" "attr_writer" "cattr_accessor" "mattr_accessor")) @field
(call method: (identifier) @_call arguments: (argument_list . (simple_symbol) @name)
  (#any-of? @_call "scope" "define_method" "alias_method" "alias_attribute")) @method
(call method: (identifier) @_call arguments: (argument_list . (simple_symbol) @name)
  (#any-of? @_call "has_many" "has_one" "belongs_to" "has_and_belongs_to_many")) @field
