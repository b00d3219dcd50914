export { default } from 'pg-docsearch-search-components/SearchTranslations';
